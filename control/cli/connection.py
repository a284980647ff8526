"""How does a verb reach the controller? By the run file and the token of the state folder."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from control.api.model import ShiftDocument
from control.cancellation import until_interrupted
from control.errors import NotFound, Unavailable
from control.local.layout import Layout
from control.local.runfile import RunFile, read_run_file
from control.settings import settings

if TYPE_CHECKING:
    from control.api.client import ShiftClient

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of a verb's work. Raises KeyboardInterrupt on Ctrl-C, wherever it is."""
    return asyncio.run(until_interrupted(work))


def running(state_dir: Path) -> RunFile:
    """What runs in the state folder. Raises Unavailable with the command that starts it."""
    return read_run_file(state_dir)


@asynccontextmanager
async def controller(state_dir: Path, *, timeout_s: float | None = None) -> "AsyncIterator[ShiftClient]":
    """A client of the controller that runs in the state folder, or of the cluster where one is named. Raises
    Unavailable.
    """
    if cluster := chosen_cluster():
        from control.adapters.kubernetes.client import cluster_client

        limit_s = settings().call_timeout_s if timeout_s is None else timeout_s
        async with cluster_client(*cluster, timeout_s=limit_s) as client:
            yield client
        return
    found = running(state_dir)
    from control.api.client import GrpcShiftClient  # gRPC costs more than all the rest: only when somebody is there

    limit_s = settings().call_timeout_s if timeout_s is None else timeout_s
    try:
        async with GrpcShiftClient(found.control, read_token(Path(found.token_file)), timeout_s=limit_s) as client:
            yield client
    except Unavailable as error:
        raise away(error, Layout(found.net, state_dir)) from None


def chosen_cluster() -> tuple[str, str] | None:
    """The kubeconfig and context that the command line or the environment names; None on a laptop."""
    root = click.get_current_context(silent=True)
    given = (root.find_root().obj or {}) if root is not None else {}
    known = settings(kubernetes=given.get("kubeconfig"), kube_context=given.get("context"))
    return (known.kubernetes, known.kube_context) if known.kubernetes or known.kube_context else None


def away(error: Unavailable, layout: Layout) -> Unavailable:
    """The error in the words of a laptop whose supervisor lives: it starts a controller that died again."""
    from control.api.statuses import NO_ANSWER

    if error.message != NO_ANSWER:
        return error
    log = layout.logs / "controller.err.log"
    return Unavailable("the controller does not answer", f"it is restarted by itself; its log is {log}")


def read_token(path: Path) -> str:
    """The secret that the controller wants to see. Raises Unavailable when it is gone, Refused as the controller does
    where others can read it.
    """
    from control.api import access

    if not path.exists():
        raise Unavailable(f"the token file {path} is gone", "end the mesh and start it again: tidegate down")
    return access.read_token(path)


async def resolve(client: "ShiftClient", namespace: str, name: str) -> ShiftDocument:
    """The shift of this name; without a name the only one there is. Raises NotFound with the names that exist."""
    if name:
        return await client.get(namespace, name)
    shifts = await client.list(namespace)
    match shifts:
        case [only]:
            return only
        case []:
            raise NotFound(f"there is no shift in namespace {namespace}", "make one: tidegate apply shift.yaml")
        case _:
            names = ", ".join(sorted(shift.name for shift in shifts))
            raise NotFound("there are several shifts: say which", f"one of: {names}")
