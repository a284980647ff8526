"""How is a controller started and stopped? `python -m control.main`: one JSON line on stdout when it serves, SIGTERM
ends it.

Traffic does not notice its end: weights stay as they are, and the next controller on the same state folder goes on
where it was.
"""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Coroutine
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import structlog

from control.api.access import loopback, read_or_make_token
from control.api.server import ControlServer
from control.errors import TidegateError
from control.folder import private_folder
from control.health import Health
from control.settings import Settings, settings, state_dir_option
from control.telemetry import configure_logs
from control.wiring import controller
from control.wiring_kubernetes import cluster_controller


@click.command()
@state_dir_option
@click.option("--listen", help="Where the API listens, on loopback. Port 0 picks a free one.")
@click.option("--mesh", help="Where the mesh's API listens.")
@click.option("--kubernetes", help="Look after a cluster's shifts: in-cluster, or the path of a kubeconfig.")
@click.option(
    "--token-file", type=click.Path(path_type=Path, dir_okay=False), help="The secret of controller and mesh."
)
@click.option("--metrics", help="Where Prometheus metrics are served. Nowhere by default.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]))
def main(token_file: Path | None, **given: Any) -> None:
    """Run a controller until SIGTERM."""
    try:
        chosen = settings(token_file=str(token_file) if token_file else None, **given)
        configure_logs(chosen.log_level)
        asyncio.run(serve_cluster(chosen) if chosen.kubernetes else serve(chosen))
    except TidegateError as error:
        click.echo(f"{error.message}" + (f" ({error.hint})" if error.hint else ""), err=True)
        sys.exit(error.exit_code)


async def serve(chosen: Settings) -> None:
    """Serves until SIGTERM or SIGINT."""
    log = structlog.get_logger("control")
    stop = _stop_signal()
    loopback(chosen.listen)
    private_folder(chosen.state_dir)
    token = read_or_make_token(chosen.token_path)
    async with controller(chosen, token) as parts:
        for notice in parts.notices:
            log.warning("state kept aside", notice=notice)
        server = ControlServer(parts.shifts, listen=chosen.listen, token=token, version=version("tidegate"))
        await server.start()
        health = Health()
        metrics = _metrics(parts, loopback(chosen.metrics), health) if chosen.metrics else None
        _say({"ready": True, "listen": server.address, "metrics": metrics, "notices": list(parts.notices)})
        try:
            await _until(stop, _with_a_pulse(parts.run(), health))
        finally:
            await server.stop(chosen.drain_s)
            log.info("stopped")


async def serve_cluster(chosen: Settings) -> None:
    """Looks after a cluster's shifts until SIGTERM or SIGINT. Its API is the API server's own."""
    log = structlog.get_logger("control")
    stop = _stop_signal()
    async with cluster_controller(chosen) as parts:
        health = Health(parts.waits_for)
        metrics = _metrics(parts, chosen.metrics, health) if chosen.metrics else None
        _say({"ready": True, "kubernetes": parts.server, "metrics": metrics, "notices": list(parts.notices)})
        await _until(stop, _with_a_pulse(parts.run(), health))
        log.info("stopped")


def _metrics(parts: Any, address: str, health: Health) -> str:
    where: str = parts.metrics.serve(address, parts.runner.waiting, health)
    return where


async def _with_a_pulse(work: Coroutine[Any, Any, None], health: Health) -> None:
    pulse = asyncio.ensure_future(health.run())
    try:
        await work
    finally:
        pulse.cancel()


async def _until(stop: asyncio.Event, work: Any) -> None:
    """Does the work until told to stop; an error in the work ends it too."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if working.done():
        working.result()
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
