"""The whole laptop mesh as one thing: started in the order that is quickest, stopped so that nothing is left.

Services, Redis and mesh runner start side by side; each finds the others by addresses that are fixed beforehand (the
leased net). The controller comes last: a shift that it resumes must not see a mesh that is still coming up.
"""

import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from control.errors import Refused, StartFailed
from control.folder import unusable
from control.local import children
from control.local.children import Options
from control.local.layout import Layout, free_gateway_port
from control.local.manifests import keep_or_write_documents
from control.local.runfile import RunFile, lock_path, run_path, state_folder, write_run_file, write_token
from control.local.start import Report, start_together
from mesh.lease import Lease, NoNetLeft, lease, nets
from mesh.process import ChildEvent, ChildState, Supervisor

KEPT = ("state.sqlite.*Z*", "ledger")
"""What outlives a mesh: state files that were kept aside, and what finished shifts left behind."""
OURS = (
    *("documents", "gateway", "logs", "token", "run.json", "run.new", "up.log"),
    *("controller.lock", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "lock"),
)
"""Everything that a mesh writes into its state folder; nothing else is ever removed from it."""


@dataclass(frozen=True, slots=True)
class System:
    """A mesh that runs."""

    layout: Layout
    run: RunFile
    token: str
    supervisor: Supervisor


@contextlib.asynccontextmanager
async def running(state_dir: Path, options: Options, report: Report) -> AsyncIterator[System]:
    """The mesh, ready to serve, until the context ends. Raises Refused (one runs here already), StartFailed."""
    refuse_foreign(state_dir)
    with state_folder(state_dir), contextlib.ExitStack() as leftovers:
        former = former_layout(state_dir)
        _remove_leftovers(state_dir)
        net = leftovers.enter_context(own_net(former.net if former else usual_net(state_dir)))
        layout = Layout(net.net, state_dir, former.gateway_port if former else free_gateway_port(net.net))
        leftovers.callback(children.redis_socket(layout).unlink, missing_ok=True)
        token = write_token(layout.token_file)
        keep_or_write_documents(layout, former)
        gateway_path(state_dir).write_text(layout.gateway, encoding="ascii")
        async with Supervisor(lambda event: _tell(event, report, layout, supervisor)) as supervisor:
            await _start_all(supervisor, layout, options, report)
            run = _run_file(layout, supervisor)
            write_run_file(state_dir, run)
            try:
                yield System(layout, run, token, supervisor)
            finally:
                run_path(state_dir).unlink(missing_ok=True)
                await _stop_in_order(supervisor)


def gateway_path(state_dir: Path) -> Path:
    """The file that names the gateway's address in the documents beside it."""
    return state_dir / "gateway"


def former_layout(state_dir: Path) -> Layout | None:
    """The layout that the documents in the folder speak of; None when there are none."""
    try:
        address, _, port = gateway_path(state_dir).read_text(encoding="ascii").partition(":")
        former = Layout(address.rpartition(".")[0], state_dir, int(port))
    except (OSError, ValueError):
        return None
    return former if former.documents.is_dir() else None


def own_net(wanted: str) -> Lease:
    """A net of our own, the wanted one if it is free. Raises StartFailed."""
    try:
        return lease(prefer=[wanted])
    except (NoNetLeft, OSError) as error:
        raise StartFailed(
            f"no loopback net could be had: {error}", "end a mesh that is not needed: tidegate down"
        ) from None


def usual_net(state_dir: Path) -> str:
    """The same net for the same folder each time, if it is free: callers need not be pointed elsewhere."""
    return next(nets(crc32(str(state_dir.absolute()).encode())))


def refuse_foreign(state_dir: Path) -> None:
    """Raises Refused for a folder with somebody else's files: a state folder is filled and emptied without asking."""
    try:
        if not state_dir.exists() or lock_path(state_dir).exists():
            return
        names = sorted(path.name for path in state_dir.iterdir())
    except OSError as error:
        raise unusable(state_dir, error) from None
    foreign = [name for name in names if name not in OURS and not any(map(Path(name).match, KEPT))]
    if foreign:
        raise Refused(f"{state_dir} holds {foreign[0]}, which is not Tidegate's", "give an empty or a new folder")


def clear(state_dir: Path) -> list[Path]:
    """Removes what a mesh left in its state folder, and the folder too when it is empty then. What is returned stays:
    what outlives a mesh, and whatever is not ours. Raises Refused when a mesh runs in it.
    """
    if not lock_path(state_dir).exists():
        return sorted(path for kept in KEPT for path in state_dir.glob(kept))
    with state_folder(state_dir):
        _remove_leftovers(state_dir)
        for name in OURS:
            _remove(state_dir / name)
        left = sorted(state_dir.iterdir())
        if not left:
            state_dir.rmdir()
    return left


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_leftovers(state_dir: Path) -> None:
    """A supervisor that was killed leaves its run file, which names the net, and by that the socket of its Redis."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        net = json.loads(run_path(state_dir).read_text(encoding="utf-8"))["net"]
        children.redis_socket(Layout(net, state_dir)).unlink(missing_ok=True)
    run_path(state_dir).unlink(missing_ok=True)


async def _start_all(supervisor: Supervisor, layout: Layout, options: Options, report: Report) -> None:
    redis = children.redis(layout)
    if redis is None:
        report(f"no redis-server: the cache goes on with its first level only (install it: {children.REDIS_PACKAGE})")
    own = [children.mesh_runner(layout), *children.workloads(layout, options)]
    await start_together(supervisor, [*([redis] if redis else []), *own], report, logs=layout.logs)
    await start_together(supervisor, [children.controller(layout)], report, logs=layout.logs)


def _tell(event: ChildEvent, report: Report, layout: Layout, supervisor: Supervisor) -> None:
    if event.incarnation > 1 or event.state in (ChildState.WAITING, ChildState.DEAD):
        report(f"{event.child}: {event.sentence}")
    if event.state is ChildState.READY and run_path(layout.state_dir).exists():
        write_run_file(layout.state_dir, _run_file(layout, supervisor))


def _run_file(layout: Layout, supervisor: Supervisor) -> RunFile:
    pids = {name: child.pid or 0 for name, child in supervisor.children.items()}
    addresses = (layout.gateway, layout.control, layout.mesh_api)
    notices = supervisor.children["controller"].ready_value.get("notices", [])
    return RunFile(os.getpid(), layout.net, *addresses, str(layout.token_file), pids, notices)


async def _stop_in_order(supervisor: Supervisor) -> None:
    """The controller first, so that it never sees a mesh that is being taken down."""
    await supervisor.stop("controller")
    await supervisor.close()
