"""Who kills the grandchildren when the supervisor is killed by SIGKILL?

Run as a script by the supervisor, in a session of its own, with a pipe from it as stdin: `+PGID` and `-PGID` lines keep
the set of living process groups. The pipe closes when the supervisor ends, however it ends; what is still in the set is
then killed as a group, which reaches the grandchildren that PR_SET_PDEATHSIG of the child itself does not.
"""

import os
import signal
import sys


def kill_group(group: int) -> None:
    """Ends what is left of a process group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def main() -> None:
    """Reads until end of file, then kills the groups that are left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change, group = line[0], int(line[1:])
        if change == "+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        kill_group(group)


if __name__ == "__main__":
    main()
