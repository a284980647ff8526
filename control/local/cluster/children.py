"""Which processes make up the small cluster, and with which arguments does each start?"""

import asyncio
import contextlib
import json
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path

from control.local.cluster.places import ClusterPlaces
from mesh.process import ChildSpec, Probe

WITHIN = timedelta(seconds=120)
LOOK_EVERY_S = 0.1
SERVICES = "10.96.0.0/16"
ETCD_PACKAGE = "sudo apt-get install -y etcd-server"
RUN = (
    "namespace-controller,garbage-collector-controller,endpointslice-controller,deployment-controller,"
    "replicaset-controller,clusterrole-aggregation-controller,serviceaccount-controller,"
    "validatingadmissionpolicy-status-controller,disruption-controller,horizontal-pod-autoscaler-controller"
)
OFF = ("ENABLE_CA_SERVER", "PILOT_ENABLE_METADATA_EXCHANGE", "PILOT_ENABLE_ALPN_FILTER", "PILOT_ENABLE_GATEWAY_API")
TELEMETRY = ("PILOT_ENABLE_TELEMETRY_LABEL", "PILOT_ENDPOINT_TELEMETRY_LABEL")
"""What only Istio's own build of Envoy understands is switched off: the proxies here are plain ones."""
MESH_CONFIG = {"enableAutoMtls": False, "rootNamespace": "istio-system"}


def etcd(places: ClusterPlaces) -> ChildSpec:
    """Debian's etcd; what it stores is gone with the cluster."""
    url = f"http://{places.etcd}"
    peer = f"http://{places.net}.1:2380"
    arguments = ("--data-dir", str(places.state_dir / "etcd"), "--listen-client-urls", url)
    peers = ("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}")
    quick = ("--advertise-client-urls", url, "--unsafe-no-fsync")
    return ChildSpec(
        "etcd",
        (_etcd(), *arguments, *peers, *quick),
        places.logs,
        ready=Probe(lambda: answers(f"{url}/health")),
        ready_within=WITHIN,
        install_hint=ETCD_PACKAGE,
    )


def _etcd() -> str:
    """Without fsync where the etcd knows how (3.5 and newer); 3.4 keeps it."""
    return shutil.which("etcd") or "etcd"


def api_server(places: ClusterPlaces, programs: Path) -> ChildSpec:
    """kube-apiserver with real authorization; tokens stand for who asks."""
    host, _, port = places.api_server.rpartition(":")
    key = str(places.state_dir / "accounts.key")
    accounts = ("--service-account-key-file", key, "--service-account-signing-key-file", key)
    listening = ("--bind-address", host, "--secure-port", port, "--cert-dir", str(places.certificates))
    rights = ("--authorization-mode=RBAC", "--token-auth-file", str(places.tokens))
    rest = (
        *("--service-account-issuer", f"https://{places.api_server}", "--service-cluster-ip-range", SERVICES),
        *("--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none", "--profiling=false"),
    )
    command = (str(programs / "kube-apiserver"), "--etcd-servers", f"http://{places.etcd}", *accounts, *listening)
    return ChildSpec(
        "kube-apiserver",
        (*command, *rights, *rest),
        places.logs,
        ready=Probe(lambda: answers(f"https://{places.api_server}/readyz", trust=_token(places))),
        ready_within=WITHIN,
    )


def controller_manager(places: ClusterPlaces, programs: Path) -> ChildSpec:
    """What clears namespaces and orphans, turns Deployments into pods (that nothing runs) and joins roles."""
    flags = ("--leader-elect=false", "--use-service-account-credentials=false", f"--controllers={RUN}")
    address = ("--bind-address", f"{places.net}.1", "--secure-port", "10257")
    certificates = ("--cert-dir", str(places.certificates / "controller-manager"))
    command = (str(programs / "kube-controller-manager"), "--kubeconfig", str(places.kubeconfig))
    return ChildSpec("kube-controller-manager", (*command, *flags, *address, *certificates), places.logs)


def istiod(places: ClusterPlaces, programs: Path) -> ChildSpec:
    """pilot-discovery, plaintext on loopback, without certificates and without webhooks."""
    flags = {
        "--kubeconfig": str(places.kubeconfig),
        "--meshConfig": str(places.mesh_config),
        "--grpcAddr": places.istiod_xds,
        "--httpAddr": places.istiod_http,
        "--monitoringAddr": places.istiod_monitoring,
        "--secureGRPCAddr": "",
        "--httpsAddr": "",
    }
    words = [f"{name}={value}" for name, value in flags.items()]
    return ChildSpec(
        "istiod",
        (str(programs / "pilot-discovery"), "discovery", *words),
        places.logs,
        ready=Probe(lambda: answers(f"http://{places.istiod_http}/ready")),
        ready_within=WITHIN,
        env=istiod_environment(),
    )


def istiod_environment() -> dict[str, str]:
    names = dict.fromkeys((*OFF, *TELEMETRY), "false")
    webhooks = {"INJECTION_WEBHOOK_CONFIG_NAME": "", "VALIDATION_WEBHOOK_CONFIG_NAME": ""}
    return names | webhooks | {"PILOT_CERT_PROVIDER": "none", "POD_NAMESPACE": "istio-system", "POD_NAME": "istiod-0"}


def write_files(places: ClusterPlaces) -> None:
    """What the processes read at their start, secrets aside."""
    places.mesh_config.write_text(json.dumps(MESH_CONFIG) + "\n")
    key = places.state_dir / "accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    key.chmod(0o600)


def _token(places: ClusterPlaces) -> str:
    return places.tokens.read_text(encoding="ascii").partition(",")[0]


async def answers(url: str, trust: str = "") -> None:
    """Returns once the address answers 200. `trust` is a bearer token."""
    while True:
        with contextlib.suppress(OSError):
            if await asyncio.to_thread(_status, url, trust) == 200:
                return
        await asyncio.sleep(LOOK_EVERY_S)


def _status(url: str, token: str) -> int:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    context = ssl._create_unverified_context() if url.startswith("https") else None  # noqa: S323 (its own, on loopback)
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=5, context=context) as found:  # noqa: S310
            return int(found.status)
    except urllib.error.HTTPError as error:
        return error.code
