"""`tidegate down`: ends the mesh that runs in a state folder, and everything that it started."""

import contextlib
import os
import signal
from datetime import timedelta
from pathlib import Path

import click
import psutil

from control.errors import TimedOut
from control.local.runfile import supervisor_of
from control.local.system import clear
from control.settings import state_dir_option

STOPS_WITHIN = timedelta(seconds=30)


@click.command("down")
@state_dir_option
@click.option("--dry-run", is_flag=True, help="Say what would be stopped; stop nothing.")
def command(state_dir: Path, dry_run: bool) -> None:
    """Stop the laptop's mesh, also one that is still starting, and remove what it left in its state folder.

    What finished shifts left behind (the folder `ledger`) is never removed, nor is a state file that was kept aside
    (corrupted, or written by a newer version) or anything that is not Tidegate's; the path of what is kept is printed.
    """
    pid = supervisor_of(state_dir)
    if pid is None:
        click.echo(f"no mesh runs in {state_dir}: nothing to stop", err=True)
    else:
        click.echo(f"stopping process {pid} and all that it started", err=True)
    if dry_run:
        return
    if pid is not None:
        stop_process(pid)
    for kept in clear(state_dir):
        click.echo(f"kept: {kept}", err=True)


def stop_process(pid: int) -> None:
    """Asks the supervisor to stop and waits until it has. Raises TimedOut."""
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        process = psutil.Process(pid)
        os.kill(pid, signal.SIGTERM)
        try:
            process.wait(STOPS_WITHIN.total_seconds())
        except psutil.TimeoutExpired:
            raise TimedOut(
                f"process {pid} did not stop in {STOPS_WITHIN.seconds} s", f"kill -9 {pid} ends it"
            ) from None
