"""Which laptop mesh runs in a state folder? `run.json` says it, and a lock beside it says that it lives.

The lock is held by the supervisor and ends with it, however that ends: a `run.json` without a lock is a leftover. The
locked file holds the supervisor's pid, so that one which is still starting can be stopped too.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from control.errors import Refused, Unavailable
from control.folder import private_folder


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a person's tools need to find a running mesh. Addresses are host:port; `token_file` is a path; `notices` are
    what a person must be told of the start (a state file that was kept aside).
    """

    pid: int
    net: str
    gateway: str
    control: str
    mesh: str
    token_file: str
    processes: dict[str, int]
    notices: list[str] = field(default_factory=list)


def run_path(state_dir: Path) -> Path:
    """Where the folder's run file is."""
    return state_dir / "run.json"


def write_run_file(state_dir: Path, run: RunFile) -> None:
    """Written whole or not at all."""
    fresh = run_path(state_dir).with_suffix(".new")
    fresh.write_text(json.dumps(asdict(run), indent=2) + "\n", encoding="utf-8")
    fresh.replace(run_path(state_dir))


def read_run_file(state_dir: Path) -> RunFile:
    """The mesh that runs in this folder. Raises Unavailable when none does."""
    try:
        raw = json.loads(run_path(state_dir).read_text(encoding="utf-8"))
        run = RunFile(**{name: raw[name] for name in RunFile.__dataclass_fields__})
    except (OSError, ValueError, KeyError, TypeError):
        raise Unavailable(f"no mesh runs in {state_dir}", "start one: tidegate up --detach") from None
    if not is_locked(state_dir):
        raise Unavailable(
            f"the mesh of {state_dir} is gone (it was process {run.pid})", "start one: tidegate up --detach"
        )
    return run


@contextmanager
def state_folder(state_dir: Path) -> Iterator[Path]:
    """The folder, ours alone while the context lasts. Raises Refused when a mesh runs in it, or another user has it."""
    lock = lock_path(private_folder(state_dir))
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _lock(descriptor) or not _is_still(lock, descriptor):
            raise already_runs(state_dir)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield state_dir
    finally:
        os.close(descriptor)


def already_runs(state_dir: Path) -> Refused:
    """What a second one is told."""
    return Refused(f"a mesh runs in {state_dir} already", "use it, or end it: tidegate down")


def supervisor_of(state_dir: Path) -> int | None:
    """The pid of whoever holds the folder, also while it is still starting; None when nobody does."""
    if not is_locked(state_dir):
        return None
    with suppress(OSError, ValueError):
        return int(lock_path(state_dir).read_text(encoding="ascii"))
    return None


def is_locked(state_dir: Path) -> bool:
    """Whether a supervisor lives that holds the folder."""
    try:
        descriptor = os.open(lock_path(state_dir), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def lock_path(state_dir: Path) -> Path:
    """The file that the supervisor keeps locked."""
    return state_dir / "lock"


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file that is open here is the one that the path names: who cleared the folder took it away."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_token(path: Path) -> str:
    """A new secret in a file that only its owner can read (mode 0600)."""
    token = secrets.token_urlsafe(32)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token)
    return token
