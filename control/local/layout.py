"""Where does each part of the laptop's mesh listen?

Everything lives in one leased 127.x.y.0/24, so that several meshes run side by side. The mesh documents
(mesh/manifests/local) say the same in Istio's words; a test compares the two.
"""

import socket
from dataclasses import dataclass
from pathlib import Path

from control.errors import StartFailed

VERSIONS = ("v1", "v2")
GATEWAY_PORTS = (8080, 18080, 28080, 38080)


@dataclass(frozen=True, slots=True)
class Workload:
    """One service process. `listen` is the service's own port; its sidecar listens in front of it."""

    name: str
    service: str
    version: str
    listen: str
    metrics: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Addresses in a leased net (its first three numbers) and files in a state folder."""

    net: str
    state_dir: Path
    gateway_port: int = GATEWAY_PORTS[0]

    @property
    def gateway(self) -> str:
        return f"{self.net}.2:{self.gateway_port}"

    @property
    def mesh_api(self) -> str:
        return f"{self.net}.1:15020"

    @property
    def control(self) -> str:
        return f"{self.net}.1:15030"

    @property
    def control_metrics(self) -> str:
        return f"{self.net}.1:15031"

    @property
    def documents(self) -> Path:
        return self.state_dir / "documents"

    @property
    def logs(self) -> Path:
        return self.state_dir / "logs"

    @property
    def token_file(self) -> Path:
        return self.state_dir / "token"

    def translator(self, version: str) -> Workload:
        return self._workload(f"translator-{version}", "translator", version, 11 + VERSIONS.index(version), 50061)

    def detector(self) -> Workload:
        return self._workload("lang-detector", "lang_detector", "v1", 21, 50062)

    def cache(self) -> Workload:
        return self._workload("cache-proxy", "cache_proxy", "v1", 31, 50063)

    def sidecar_to_detector(self, version: str) -> str:
        """Where translator's sidecar takes calls to lang-detector."""
        return f"{self._host(self.translator(version))}:50052"

    def sidecar_to_cache(self, version: str) -> str:
        return f"{self._host(self.translator(version))}:50053"

    def _workload(self, name: str, service: str, version: str, host: int, port: int) -> Workload:
        address = f"{self.net}.{host}"
        return Workload(name, service, version, f"{address}:{port}", f"{address}:9464")

    @staticmethod
    def _host(workload: Workload) -> str:
        return workload.listen.rpartition(":")[0]


def free_gateway_port(net: str) -> int:
    """The first port of `GATEWAY_PORTS` that nothing takes, not even on all addresses. Raises StartFailed."""
    for port in GATEWAY_PORTS:
        with socket.socket() as probe:
            try:
                probe.bind((f"{net}.2", port))
            except OSError:
                continue
            return port
    raise StartFailed(f"the ports {', '.join(map(str, GATEWAY_PORTS))} are all taken", "see who has them: ss -ltnp")
