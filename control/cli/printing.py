"""How does a verb print? Data on standard output as a table, JSON or YAML; progress and questions on standard error."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from control.cli.look import Look, look_at
from control.cli.options import Output
from control.view.plain import plain
from control.view.texts import json_text, yaml_text

if TYPE_CHECKING:
    from rich.console import RenderableType


def out_look() -> Look:
    """How to draw on standard output."""
    return look_at(sys.stdout, ascii_only=ascii_wanted())


def err_look() -> Look:
    """How to draw on standard error."""
    return look_at(sys.stderr, ascii_only=ascii_wanted())


def ascii_wanted() -> bool:
    """Whether `tidegate --ascii` was asked for."""
    context = click.get_current_context(silent=True)
    wanted = context.find_object(dict) if context is not None else None
    return bool(wanted and wanted.get("ascii"))


def emit(value: Any, output: str, table: "Callable[[Look], RenderableType]") -> None:
    """Prints a view or document: drawn by `table`, or as it is in JSON or YAML."""
    match output:
        case Output.JSON:
            click.echo(json_text(plain(value)))
        case Output.YAML:
            click.echo(yaml_text(plain(value)), nl=False)
        case _:
            look = out_look()
            look.print(table(look))


def screen(path: str, value: Any) -> "Callable[[Look], RenderableType]":
    """The drawing of a value by a function that is imported only when it is wanted. Example: "tables:list_table"."""

    def draw(look: Look) -> "RenderableType":
        from importlib import import_module

        module, _, name = path.partition(":")
        drawn: RenderableType = getattr(import_module(f"control.cli.{module}"), name)(value, look)
        return drawn

    return draw


def progress(text: str) -> None:
    """Tells on standard error, where no pipe takes it for data."""
    click.echo(text, err=True)


def asks_people() -> bool:
    """Whether somebody sits there who can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> None:
    """Raises Abort unless the answer is yes."""
    click.confirm(question, abort=True, err=True)
