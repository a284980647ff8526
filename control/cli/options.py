"""Which options do several verbs share? One decorator each, so that they read and work the same everywhere."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import click

from control.cli.complete import shift_names

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Output(StrEnum):
    """How a read prints: for people, or the same values for machines."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


class Utf8Type(click.ParamType[str]):
    """Words that can be sent: UTF-8 all through."""

    name = "text"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError as broken:
            return self.fail(f"not UTF-8 at character {broken.start + 1}", param, ctx)
        return text


UTF8 = Utf8Type()

output_option: Decorator = click.option(
    "-o",
    "--output",
    type=click.Choice(list(Output), case_sensitive=False),
    default=Output.TABLE,
    show_default=True,
    help="How to print it.",
)
namespace_option: Decorator = click.option(
    "-n", "--namespace", type=UTF8, metavar="NAME", default="default", show_default=True, help="The shift's namespace."
)
dry_run_option: Decorator = click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
yes_option: Decorator = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
reason_option: Decorator = click.option(
    "--reason", type=UTF8, default="", metavar="TEXT", help="Why, for the history that others read."
)
name_argument: Decorator = click.argument("name", type=UTF8, required=False, default="", shell_complete=shift_names)
expect_step_option: Decorator = click.option(
    "--expect-step",
    type=click.IntRange(min=0),
    metavar="N",
    help="Refuse when the shift is at another step than N (0: before the first).",
)


def examples(*lines: str) -> str:
    """The part of a help text that shows a command in use."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
