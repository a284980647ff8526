"""`tidegate dev cluster up` and `tidegate dev cluster down`: a small cluster, for people who want to type `kubectl get
trafficshift` themselves.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import click

from control.cancellation import until_interrupted
from control.errors import Refused, StartFailed, Unavailable
from control.folder import private_folder
from control.local.children import python_module
from control.local.cluster.places import USERS, ClusterPlaces
from control.local.cluster.running import Cluster, running
from control.local.cluster.tools import ISTIO, KUBE, built, folder
from control.local.down import stop_process
from control.local.runfile import is_locked, lock_path, state_folder, supervisor_of

DEFAULT = Path("~/.local/state/tidegate/cluster")
STOPS_WITHIN_S = 30.0
READY_WITHIN_S = 1800.0
LOOK_EVERY_S = 0.2
RUN = "cluster.json"

_state_dir = click.option(
    "--state-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT,
    show_default=True,
    help="Folder of the cluster's files; gone with it.",
)


@click.group("dev")
def command() -> None:
    """Tools for whoever works on Tidegate, or wants to see it on a cluster before having one."""


@command.group("cluster")
def cluster_group() -> None:
    """An API server, etcd and istiod on this machine's loopback. Nothing runs pods; no container is needed."""


@cluster_group.command("build")
def build() -> None:
    """Build the cluster's programs now, if they are not there: kube-apiserver, istiod and their tools."""
    for module in (KUBE, ISTIO):
        click.echo(built(module, lambda line: click.echo(line, err=True)))


@cluster_group.command("up")
@_state_dir
@click.option("--detach", is_flag=True, help="Return when it is ready; it goes on until `tidegate dev cluster down`.")
def up(state_dir: Path, detach: bool) -> None:
    """Start a small cluster; the first time its programs are built by Go, which takes some minutes.

    \b
    Examples:
      tidegate dev cluster up --detach
      export KUBECONFIG=~/.local/state/tidegate/cluster/kubeconfig
      kubectl get trafficshift -A
    """
    state_dir = state_dir.expanduser()
    if detach:
        _detached(state_dir)
        click.echo(welcome(attached(state_dir)))
        return
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(until_interrupted(_serve(state_dir), (signal.SIGINT, signal.SIGTERM), again_s=STOPS_WITHIN_S))


@cluster_group.command("down")
@_state_dir
def down(state_dir: Path) -> None:
    """Stop the small cluster and remove its files."""
    state_dir = state_dir.expanduser()
    pid = supervisor_of(state_dir)
    if pid is None:
        click.echo(f"no cluster runs in {state_dir}: nothing to stop", err=True)
        return
    stop_process(pid)


async def _serve(state_dir: Path) -> None:
    with state_folder(private_folder(state_dir)):
        try:
            async with running(state_dir, lambda line: click.echo(f"cluster: {line}", err=True)) as cluster:
                _write(state_dir, cluster)
                click.echo(welcome(cluster))
                await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(_clear, state_dir)


def _write(state_dir: Path, cluster: Cluster) -> None:
    found = {"pid": os.getpid(), "net": cluster.places.net, "processes": dict(cluster.processes)}
    fresh = state_dir / f"{RUN}.new"
    fresh.write_text(json.dumps(found) + "\n")
    fresh.replace(state_dir / RUN)


def _clear(state_dir: Path) -> None:
    """Only what a cluster wrote; the lock goes last."""
    places = ClusterPlaces("", state_dir)
    for path in (places.certificates, places.logs, state_dir / "etcd"):
        shutil.rmtree(path, ignore_errors=True)
    files = (places.tokens, places.kubeconfig, places.mesh_config, state_dir / "accounts.key", state_dir / RUN)
    for path in (*files, state_dir / "up.log", lock_path(state_dir)):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # somebody else's files stay
        state_dir.rmdir()


def attached(state_dir: Path) -> Cluster:
    """The cluster that runs in this folder. Raises Unavailable when none does."""
    try:
        found = json.loads((state_dir / RUN).read_text())
        places = ClusterPlaces(found["net"], state_dir.absolute())
    except (OSError, ValueError, KeyError):
        raise Unavailable(f"no cluster runs in {state_dir}", "start one: tidegate dev cluster up --detach") from None
    return Cluster(places, folder(KUBE) / "kubectl", folder(ISTIO) / "istioctl", found["processes"])


def _detached(state_dir: Path) -> None:
    if is_locked(state_dir):
        raise Refused(f"a cluster runs in {state_dir} already", "use it, or end it: tidegate dev cluster down")
    log = private_folder(state_dir) / "up.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [*python_module("control.cli.main"), "dev", "cluster", "up", "--state-dir", str(state_dir)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    end = time.monotonic() + READY_WITHIN_S
    while not (state_dir / RUN).exists():
        if child.poll() is not None or time.monotonic() > end:
            child.terminate()
            raise StartFailed(f"the cluster did not start:\n{log.read_text(errors='replace').strip()}")
        time.sleep(LOOK_EVERY_S)


def welcome(cluster: Cluster) -> str:
    """What a person must know and can do now."""
    return "\n".join(
        (
            f"The cluster runs on {cluster.places.net}.1; contexts: {', '.join(each.name for each in USERS)}.",
            f"  export KUBECONFIG={cluster.places.kubeconfig}",
            f"  {cluster.kubectl} get trafficshift -A",
            f"  python -m control.main --kubernetes {cluster.places.kubeconfig}     looks after its shifts",
            f"  istiod: http://{cluster.places.istiod_monitoring} (TIDEGATE_ISTIOD)",
            "  tidegate dev cluster down     ends it",
        )
    )
