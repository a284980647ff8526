"""How does a child die with its parent, even when the parent is killed by SIGKILL?

Run as a script by the supervisor: `python -I -S leash.py PARENT_PID SIGNAL PROGRAM ARG...`. It asks the kernel for a
signal at the parent's death (PR_SET_PDEATHSIG survives exec), checks that the parent did not die in between, and
becomes the program. A preexec_fn would run Python between fork and exec in a process full of gRPC
threads, which can deadlock.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, signal: int, command: list[str]) -> None:
    """Becomes `command`; exits 127 when it can't be executed."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as problem:
        sys.stderr.write(f"cannot run {command[0]}: {problem.strerror}\n")
        os._exit(127)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
