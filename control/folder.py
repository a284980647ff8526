"""Is a state folder its owner's alone? It is made so; one that was open to others is closed or refused.

Closing is enough when others could only look: what is secret in the folder is made anew at each start. Where others
could write, what lies in it may be theirs, and nothing in it is trusted.
"""

import os
import stat
from pathlib import Path

from control.errors import Refused

PRIVATE = 0o700
WRITABLE_BY_OTHERS = 0o022


def private_folder(path: Path) -> Path:
    """The folder with mode 0700, made when it is absent.

    Raises: Refused when it is another user's, when others could have put something into it, or when it can't be closed.
    """
    try:
        path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        found = path.stat()
    except OSError as error:
        raise unusable(path, error) from None
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid():
        raise Refused(f"{path} belongs to another user", hint="give a folder of your own")
    if mode & WRITABLE_BY_OTHERS and any(path.iterdir()):
        raise Refused(
            f"other users can write to {path} (mode {mode:04o}), so what is in it may be theirs",
            hint=f"give a new folder, or look at what is there and then: chmod 700 {path}",
        )
    if mode & ~PRIVATE:
        _close(path)
    return path


def unusable(path: Path, error: OSError) -> Refused:
    """What is said of a path that can't be a folder."""
    return Refused(f"{path} can't be a state folder: {error.strerror}", hint="give another one: --state-dir FOLDER")


def _close(path: Path) -> None:
    try:
        path.chmod(PRIVATE)
    except OSError as error:
        raise Refused(f"{path} can't be closed to other users: {error}", hint="give another folder") from error
