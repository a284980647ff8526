"""Which 127.x.y.0/24 belongs to this mesh, and to nobody else?

A lease is an flock on a file named after the net, in a run folder of this user; it ends with the process that holds it,
however that ends. The file goes with the lease; one that a killed process leaves is taken over by the next lease of its
net. Nets in which something already listens (another user's mesh, an orphan) are passed over.
"""

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

FIRST, LAST = 64, 127
NETS = (LAST - FIRST + 1) * 256
LISTEN = "0A"


class NoNetLeft(Exception):
    """Every net is leased or has listeners."""


@dataclass(slots=True)
class Lease:
    """A net that is ours until `close`. `net` is its first three numbers: "127.64.3". `file` is locked by `lock`."""

    net: str
    lock: int
    file: Path

    def address(self, host: int) -> str:
        """An address of the net. Example: host 2 of 127.64.3 is 127.64.3.2."""
        return f"{self.net}.{host}"

    def close(self) -> None:
        """Gives the net back and leaves nothing. Once is enough, twice does no harm."""
        if self.lock >= 0:
            self.file.unlink(missing_ok=True)
            os.close(self.lock)
            self.lock = -1

    def __enter__(self) -> "Lease":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lease(folder: Path | None = None, *, prefer: Iterable[str] = ()) -> Lease:
    """A free net, ours from now on: the first of `prefer` that is free, else any. Raises NoNetLeft."""
    folder = folder or run_folder() / "leases"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    busy = listening_nets(Path("/proc/net/tcp").read_text().splitlines()[1:])
    for net in chain(prefer, nets(os.getpid())):
        if net not in busy and (lock := try_lock(folder / net)) is not None:
            return Lease(net, lock, folder / net)
    raise NoNetLeft(f"all nets 127.{FIRST}.0 to 127.{LAST}.255 are leased (lock files in {folder}) or have listeners")


def run_folder() -> Path:
    """This user's folder for locks, mode 0700. Raises PermissionError when somebody else made it."""
    folder = Path(f"/tmp/tidegate-{os.getuid()}")  # noqa: S108
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.getuid() or not stat.S_ISDIR(state.st_mode):
        raise PermissionError(f"{folder} belongs to somebody else; remove it and try again")
    return folder


def nets(start: int) -> Iterator[str]:
    """Every net once, beginning somewhere else for every process so that they seldom meet."""
    for offset in range(NETS):
        high, low = divmod((start * 7 + offset) % NETS, 256)
        yield f"127.{FIRST + high}.{low}"


def try_lock(file: Path) -> int | None:
    """An open descriptor that holds the lock, or None when somebody else has it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(file.stat(), os.fstat(descriptor)):  # else its former owner took it away in between
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def listening_nets(lines: list[str]) -> set[str]:
    """The nets of listening sockets in the lines of /proc/net/tcp (addresses are little-endian hex)."""
    found = set()
    for line in lines:
        _, local, _, state, *_ = line.split()
        if state == LISTEN:
            numbers = bytes.fromhex(local.split(":")[0])[::-1]
            found.add(".".join(str(number) for number in numbers[:3]))
    return found
