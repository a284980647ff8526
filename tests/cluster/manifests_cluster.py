"""A real Kubernetes API server on an etcd of its own, on loopback, without nodes: what does it accept, and from whom?

Programs: TIDEGATE_TEST_PROGRAMS is the folder of kube-apiserver and kubectl, and /usr/bin has etcd.
"""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(os.environ.get("TIDEGATE_TEST_PROGRAMS", "/tmp/gobin"))
CONTROLLER = "system:serviceaccount:tidegate-system:tidegate"
USERS = {
    "admin": ("admin", "system:masters"),
    "controller": (CONTROLLER, "system:serviceaccounts,system:serviceaccounts:tidegate-system"),
    "alice": ("alice", ""),
    "bob": ("bob", ""),
}
"""Token -> user and groups."""


@dataclass(frozen=True)
class Answer:
    """What kubectl said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Cluster:
    folder: Path
    url: str

    def kubectl(self, *args: str, user: str = "admin", given: str | Mapping[str, Any] | None = None) -> Answer:
        """Runs kubectl as one of the users; `given` is its standard input."""
        text = given if isinstance(given, str) or given is None else json.dumps(given)
        access = (f"--server={self.url}", f"--certificate-authority={self.folder / 'apiserver.crt'}")
        home = {"HOME": str(self.folder), "KUBECONFIG": "/dev/null", "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [str(PROGRAMS / "kubectl"), *access, f"--token={user}", *args],
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            env=home,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def must(self, *args: str, user: str = "admin", given: str | Mapping[str, Any] | None = None) -> Answer:
        answer = self.kubectl(*args, user=user, given=given)
        assert answer.code == 0, f"kubectl {' '.join(args)}: {answer.err}"
        return answer

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str = "admin",
        kind: str = "application/json",
    ) -> tuple[int, Any]:
        """The status code and the document that the API server answers; quicker than kubectl, and in the API's words."""
        secure = ssl.create_default_context(cafile=str(self.folder / "apiserver.crt"))
        line = http.client.HTTPSConnection(self.url.removeprefix("https://"), context=secure, timeout=30)
        headers = {"Authorization": f"Bearer {user}", "Content-Type": kind, "Accept": "application/json"}
        line.request(method, path, None if body is None else json.dumps(body), headers)
        answer = line.getresponse()
        found = json.loads(answer.read() or b"{}")
        line.close()
        return answer.status, found


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that is ready; it ends with the block."""
    etcd_port, peer_port, port = _free_ports(3)
    _write_access(folder)
    etcd = f"http://127.0.0.1:{etcd_port}"
    with (
        _process(folder, ["/usr/bin/etcd", *_etcd_options(folder, etcd, f"http://127.0.0.1:{peer_port}")]),
        _process(folder, [str(PROGRAMS / "kube-apiserver"), *_api_options(folder, etcd, port)]) as api,
    ):
        cluster = Cluster(folder, f"https://127.0.0.1:{port}")
        _await_ready(cluster, api)
        yield cluster


def _etcd_options(folder: Path, url: str, peer: str) -> list[str]:
    return [
        *(f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={url}", f"--advertise-client-urls={url}"),
        *(f"--listen-peer-urls={peer}", "--unsafe-no-fsync", "--log-level=error"),
    ]


def _api_options(folder: Path, etcd: str, port: int) -> list[str]:
    key = folder / "service-account.key"
    return [
        *(f"--etcd-servers={etcd}", f"--cert-dir={folder}", f"--secure-port={port}", "--bind-address=127.0.0.1"),
        *(f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"),
        *("--service-account-issuer=https://kubernetes.default.svc", f"--token-auth-file={folder / 'tokens.csv'}"),
        *("--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none"),
        "--disable-admission-plugins=ServiceAccount",
    ]


def _write_access(folder: Path) -> None:
    rows = [f'{token},{name},{name},"{groups}"\n' for token, (name, groups) in USERS.items()]
    (folder / "tokens.csv").write_text("".join(rows))
    subprocess.run(
        ["openssl", "genrsa", "-out", str(folder / "service-account.key"), "2048"], check=True, capture_output=True
    )


def _free_ports(count: int) -> list[int]:
    taken = [socket.socket() for _ in range(count)]
    for each in taken:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


@contextmanager
def _process(folder: Path, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    name = Path(command[0]).name
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _await_ready(cluster: Cluster, api: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while cluster.kubectl("get", "--raw=/readyz", "--request-timeout=2s").code:
        assert api.poll() is None, (cluster.folder / "kube-apiserver.log").read_text()[-2000:]
        assert time.monotonic() < deadline, "kube-apiserver is not ready"
        time.sleep(0.2)
