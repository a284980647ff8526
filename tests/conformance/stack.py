"""A real istiod on loopback: etcd, kube-apiserver and pilot-discovery, without containers.

Nothing else of a cluster is here. Names are created by whoever compares; what is stored is gone afterwards.
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from mesh.process.launch import LEASH
from tests.conformance.programs import find

HOST = "127.77.77.1"
TOKEN = "conformance"
WITHIN_S = 90
MESH = {"enableAutoMtls": False, "rootNamespace": "istio-system"}
_OFF = (
    "ENABLE_CA_SERVER",
    "PILOT_ENABLE_METADATA_EXCHANGE",
    "PILOT_ENABLE_ALPN_FILTER",
    "PILOT_ENABLE_GATEWAY_API",
    "PILOT_ENABLE_TELEMETRY_LABEL",
    "PILOT_ENDPOINT_TELEMETRY_LABEL",
)
_ISTIOD_ENV = {
    **dict.fromkeys(_OFF, "false"),
    "PILOT_CERT_PROVIDER": "none",
    "POD_NAMESPACE": "istio-system",
    "POD_NAME": "istiod-0",
    "INJECTION_WEBHOOK_CONFIG_NAME": "",
    "VALIDATION_WEBHOOK_CONFIG_NAME": "",
    "PILOT_DEBOUNCE_AFTER": "50ms",
}


@dataclass(frozen=True, slots=True)
class Stack:
    """Where to put documents, and where to ask for what they mean."""

    api: str
    token: str
    ads: str
    debug: str


@contextmanager
def running(program: Callable[[str], Path] = find) -> Iterator[Stack]:
    """The stack, up and answering; its processes end with the block."""
    with ExitStack() as on_exit:
        folder = Path(on_exit.enter_context(tempfile.TemporaryDirectory(prefix="tidegate-istiod-")))
        etcd = f"http://{HOST}:2379"
        on_exit.enter_context(_child(_etcd(program, folder, etcd), folder))
        _until(f"{etcd}/health")
        on_exit.enter_context(_child(_api_server(program, folder, etcd), folder))
        api = f"https://{HOST}:6443"
        _until(f"{api}/readyz", TOKEN)
        _apply_crds(program, folder, api)
        on_exit.enter_context(_child(_istiod(program, folder, api), folder, _ISTIOD_ENV))
        _until(f"http://{HOST}:15008/ready")
        yield Stack(api, TOKEN, f"{HOST}:15010", f"http://{HOST}:15014")


def _etcd(program: Callable[[str], Path], folder: Path, url: str) -> list[str]:
    peer = f"http://{HOST}:2380"
    return [
        str(program("etcd")), "--data-dir", str(folder / "etcd"), "--listen-client-urls", url,
        "--advertise-client-urls", url, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
        "--initial-cluster", f"default={peer}",
    ]  # fmt: skip


def _api_server(program: Callable[[str], Path], folder: Path, etcd: str) -> list[str]:
    (folder / "tokens.csv").write_text(f"{TOKEN},conformance,1,system:masters\n")
    key = folder / "accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    return [
        str(program("kube-apiserver")), "--etcd-servers", etcd, "--cert-dir", str(folder / "certificates"),
        "--bind-address", HOST, "--secure-port", "6443", "--service-account-key-file", str(key),
        "--service-account-signing-key-file", str(key), "--service-account-issuer", f"https://{HOST}:6443",
        "--token-auth-file", str(folder / "tokens.csv"), "--authorization-mode=RBAC",
        "--service-cluster-ip-range", "10.96.0.0/16", "--endpoint-reconciler-type=none",
        "--disable-admission-plugins=ServiceAccount,NamespaceLifecycle",
    ]  # fmt: skip


def _istiod(program: Callable[[str], Path], folder: Path, api: str) -> list[str]:
    (folder / "mesh.yaml").write_text(json.dumps(MESH))
    return [
        str(program("pilot-discovery")), "discovery", f"--kubeconfig={_kubeconfig(folder, api)}",
        f"--meshConfig={folder / 'mesh.yaml'}", f"--grpcAddr={HOST}:15010", f"--httpAddr={HOST}:15008",
        f"--monitoringAddr={HOST}:15014", "--secureGRPCAddr=", "--httpsAddr=",
    ]  # fmt: skip


def _kubeconfig(folder: Path, api: str) -> Path:
    here = {"cluster": "it", "user": "it"}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": api, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "it", "user": {"token": TOKEN}}],
        "contexts": [{"name": "it", "context": here}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    return path


def _apply_crds(program: Callable[[str], Path], folder: Path, api: str) -> None:
    command = [program("kubectl"), "--kubeconfig", _kubeconfig(folder, api)]
    subprocess.run([*command, "create", "-f", program("istio-crds.yaml")], check=True, capture_output=True, timeout=60)
    waiting = ["wait", "--for", "condition=established", "crd", "--all", "--timeout=30s"]
    subprocess.run([*command, *waiting], check=True, capture_output=True, timeout=60)


@contextmanager
def _child(command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """A process in a group of its own, ended by that group's id; it ends with this process even if that is killed."""
    leashed = [sys.executable, LEASH, str(os.getpid()), str(int(signal.SIGKILL)), *command]
    log = (folder / f"{Path(command[0]).name}.log").open("wb")
    process = subprocess.Popen(
        leashed, stdout=log, stderr=log, env={**os.environ, **(env or {})}, cwd=folder, start_new_session=True
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
        log.close()


def _until(url: str, token: str = "") -> None:
    """Returns when the address answers 200. Raises TimeoutError."""
    deadline = time.monotonic() + WITHIN_S
    context = ssl._create_unverified_context()
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {token}"} if token else {})
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(request, timeout=5, context=context if url.startswith("https") else None):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"{url} did not answer within {WITHIN_S} s")
