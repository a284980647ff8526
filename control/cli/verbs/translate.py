"""`tidegate translate`: texts through the ingress gateway, and which version answered."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from control.cli.connection import run, running
from control.cli.options import UTF8, Output, examples, output_option
from control.cli.printing import progress
from control.settings import state_dir_option
from control.view.format import milliseconds, percent
from control.view.plain import plain
from control.view.texts import json_text, yaml_text

if TYPE_CHECKING:
    from control.api.translation import Ask, Translated

AUTHORITY = "translate.example.com"


@click.command(
    "translate",
    epilog=examples(
        'tidegate translate "Where is the library?" --to es',
        'tidegate translate "Hello." "Good night." --from en --to es',
        'tidegate translate "One sentence. And another one." --to es --stream',
    ),
)
@click.argument("texts", nargs=-1, required=True, type=UTF8, metavar="TEXT...")
@click.option(
    "--to", "target", type=UTF8, required=True, metavar="LANG", help="Language to translate to: es, en, fr, ..."
)
@click.option(
    "--from",
    "source",
    type=UTF8,
    default="",
    metavar="LANG",
    help="Language of the text; without it, it is detected.",
)
@click.option("--stream", is_flag=True, help="Print each segment the moment it is ready, as text whatever -o says.")
@click.option("--authority", default=AUTHORITY, show_default=True, help="The host that the gateway routes by.")
@output_option
@state_dir_option
@click.pass_context
def command(
    ctx: click.Context,
    texts: Sequence[str],
    target: str,
    source: str,
    stream: bool,
    authority: str,
    output: str,
    state_dir: Path,
) -> None:
    """Translate TEXTs through the ingress gateway of the running mesh.

    The translation goes to standard output. Which version answered, at which try, from the cache or not, and how long
    it took goes to standard error.
    """
    from control.api.translation import Ask

    ask = Ask(running(state_dir).gateway, authority, tuple(texts), source, target)
    failed = run(_stream(ask) if stream else _translate(ask, output))
    ctx.exit(1 if failed else 0)


async def _translate(ask: "Ask", output: str) -> bool:
    """Prints the answer to one call for all texts. True when a text could not be translated."""
    from control.api.translation import translate

    answer = await translate(ask)
    match output:
        case Output.JSON:
            click.echo(json_text(plain(answer)))
        case Output.YAML:
            click.echo(yaml_text(plain(answer)), nl=False)
        case _:
            for piece in answer.pieces:
                click.echo(piece.text)
            progress(facts(answer))
    return _tell_errors(answer)


async def _stream(ask: "Ask") -> bool:
    """Prints segments as they come. True when a text could not be translated."""
    from control.api.translation import Translated, stream

    failed = False
    async for part in stream(ask):
        if isinstance(part, Translated):
            progress(facts(part))
            failed |= _tell_errors(part)
        else:
            click.echo(part)
    return failed


def _tell_errors(answer: "Translated") -> bool:
    errors = [piece.error for piece in answer.pieces if piece.error]
    for error in errors:
        progress(f"not translated: {error}")
    return bool(errors)


def facts(answer: "Translated") -> str:
    """Example: "v2, first try, cache: miss, detected: en, 12 ms"."""
    tries = {None: "tries unknown", 1: "first try"}.get(answer.attempts, f"try {answer.attempts}")
    caches = ", ".join(dict.fromkeys(piece.cache for piece in answer.pieces))
    parts = [answer.version, tries, f"cache: {caches}"]
    if detected := ", ".join(dict.fromkeys(piece.detected for piece in answer.pieces if piece.detected)):
        parts.append(f"detected: {detected}")
    if unknown := max((piece.unknown_ratio for piece in answer.pieces), default=0.0):
        parts.append(f"up to {percent(unknown)} of the words unknown")
    return ", ".join([*parts, milliseconds(answer.latency_ms)])
