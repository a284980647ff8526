"""`tidegate up`: starts the laptop's mesh and keeps it running, in the foreground or (`--detach`) behind the shell."""

import asyncio
import contextlib
import signal
import subprocess
import time
from pathlib import Path

import click

from control.cancellation import until_interrupted
from control.errors import Refused, StartFailed, Unavailable
from control.folder import private_folder
from control.local.children import Options, python_module
from control.local.faults import FAULTS, translator_faults
from control.local.manifests import SHIFT
from control.local.runfile import RunFile, already_runs, is_locked, read_run_file
from control.local.system import clear, refuse_foreign, running
from control.settings import state_dir_option

DETACHED_WITHIN_S = 120.0
LOOK_EVERY_S = 0.05
STOPS_WITHIN_S = 30.0


@click.command("up")
@state_dir_option
@click.option("--detach", is_flag=True, help="Return when it is ready; it goes on until `tidegate down`.")
@click.option(
    "--allow-faults", is_flag=True, help="Let requests ask the services for faults (metadata `tidegate-fault`)."
)
@click.option("--fault", type=click.Choice(list(FAULTS)), help="Start v2 of the translator with this fault.")
def command(state_dir: Path, detach: bool, allow_faults: bool, fault: str | None) -> None:
    """Start the laptop's mesh: gateway, sidecars, services, Redis, controller.

    \b
    Examples:
      tidegate up                 until Ctrl-C, then everything is stopped
      tidegate up --detach        in the background; `tidegate down` ends it
      tidegate translate "Where is the library?" --to es
    """
    if detach:
        run = detached(state_dir, allow_faults, fault)
        click.echo(welcome(run))
        return
    asyncio.run(foreground(state_dir, Options(allow_faults=allow_faults, faults=translator_faults(fault))))


async def foreground(state_dir: Path, options: Options) -> None:
    """Runs the mesh until SIGINT or SIGTERM, then leaves nothing behind but the ledger."""
    with contextlib.suppress(KeyboardInterrupt):
        await until_interrupted(_serve(state_dir, options), (signal.SIGINT, signal.SIGTERM), again_s=STOPS_WITHIN_S)
    with contextlib.suppress(Refused):  # somebody else has begun in the folder
        for kept in clear(state_dir):
            to_stderr(f"kept: {kept}")


async def _serve(state_dir: Path, options: Options) -> None:
    async with running(state_dir, options, to_stderr) as system:
        click.echo(welcome(system.run))
        await asyncio.Event().wait()


def detached(state_dir: Path, allow_faults: bool, fault: str | None) -> RunFile:
    """The mesh, started behind the shell and ready. Raises Refused (one runs here already), StartFailed with what it
    said when it could not start.
    """
    refuse_foreign(state_dir)
    if is_locked(state_dir):
        raise already_runs(state_dir)
    words = [*(["--allow-faults"] if allow_faults else []), *(["--fault", fault] if fault else [])]
    log = private_folder(state_dir) / "up.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [*python_module("control.cli.main"), "up", "--state-dir", str(state_dir), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    return _await_ready(state_dir, child, log)


def _await_ready(state_dir: Path, child: "subprocess.Popen[bytes]", log: Path) -> RunFile:
    deadline = time.monotonic() + DETACHED_WITHIN_S
    while time.monotonic() < deadline:
        ended = child.poll() is not None
        with contextlib.suppress(Unavailable):
            run = read_run_file(state_dir)
            if run.pid == child.pid:
                return run
        if ended:
            break
        time.sleep(LOOK_EVERY_S)
    child.terminate()
    said = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
    raise StartFailed(f"the mesh did not start:\n{said}", "see the logs in " + str(state_dir / "logs"))


def welcome(run: RunFile) -> str:
    """What a person must know and can do now."""
    return "\n".join(
        (
            *(f"Note: {notice}" for notice in run.notices),
            f"The mesh runs on {run.net}.0/24; its gateway is {run.gateway}.",
            '  tidegate translate "Where is the library?" --to es',
            f"  tidegate apply {shown(SHIFT)}     then: tidegate status -w",
            "  tidegate down                                           ends it; only the ledger stays",
        )
    )


def shown(path: Path) -> str:
    """The path as somebody who stands in the current folder types it."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def to_stderr(line: str) -> None:
    """Progress, where no pipe takes it for data."""
    click.echo(f"up: {line}", err=True)
