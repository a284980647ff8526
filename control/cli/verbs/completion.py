"""`tidegate completion`: the script that makes a shell complete verbs, options and names of shifts."""

import click
from click.shell_completion import get_completion_class

from control.cli.options import examples
from control.errors import NotFound


@click.command(
    "completion",
    epilog=examples(
        'eval "$(tidegate completion bash)"',
        "tidegate completion zsh > ~/.zfunc/_tidegate",
        "tidegate completion fish > ~/.config/fish/completions/tidegate.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes `tidegate` in SHELL. Names of shifts are asked of the running controller."""
    found = get_completion_class(shell)
    if found is None:
        raise NotFound(f"there is no completion for {shell}")
    click.echo(found(ctx.find_root().command, {}, "tidegate", "_TIDEGATE_COMPLETE").source())
