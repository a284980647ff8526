"""Starts controllers without paying for their imports each time: a process that has imported everything and forks.

Each is `control.main` with its arguments in a process of its own, as `python -m control.main` is; only the
interpreter's start and the imports (most of a second on a small machine) are done once. A test that kills fifty
controllers needs that.

One line of JSON on stdin starts one (its arguments); on stdout come its pid, its own ready line, and how it ended.
"""

import ctypes
import json
import os
import signal
import sys

from control.main import main

PR_SET_PDEATHSIG = 1


def serve() -> None:
    _die_with_parent()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(json.loads(line))
        _say({"pid": pid})
        _, status = os.waitpid(pid, 0)
        _say({"ended": pid, "code": os.waitstatus_to_exitcode(status)})


def _become(arguments: list[str]) -> None:
    _die_with_parent()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        main(arguments, standalone_mode=False)
    except SystemExit as end:
        os._exit(int(end.code or 0))
    os._exit(0)


def _die_with_parent() -> None:
    """Nothing that a test starts outlives it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _say(line: dict[str, int]) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    serve()
