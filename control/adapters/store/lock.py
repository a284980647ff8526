"""Is another controller at work on this state folder? One holds the lock; the next is refused and told its pid.

The lock is the kernel's (flock), so it ends with the process however that dies; the file itself means nothing.
"""

import fcntl
import os
from pathlib import Path

from control.errors import Refused
from control.folder import private_folder

LOCK_FILE = "controller.lock"


class FolderLock:
    """The right to write to a state folder, from `take` until `release` or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path) -> "FolderLock":
        """Makes the folder when it is absent. Raises Refused when another controller or user has it."""
        descriptor = os.open(private_folder(folder) / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise Refused(
                f"another controller (pid {holder}) works on {folder}",
                hint="use that one, stop it first, or give this one another state folder",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        os.close(self._descriptor)
