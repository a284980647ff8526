"""`tidegate report`: how do both versions compare? A page for a person, a pull request, or a program."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from control.cli.connection import controller, resolve, run
from control.cli.options import examples, name_argument, namespace_option
from control.cli.printing import out_look, progress, screen
from control.errors import Refused, Unavailable
from control.settings import state_dir_option
from control.view.plain import plain
from control.view.texts import json_text, yaml_text

if TYPE_CHECKING:
    from control.api.client import ShiftClient
    from control.api.model import ShiftDocument
    from control.view.report import Baseline, ReportView


class Page(StrEnum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"
    HTML = "html"


BY_SUFFIX = {".json": Page.JSON, ".yaml": Page.YAML, ".yml": Page.YAML, ".md": Page.MARKDOWN, ".html": Page.HTML}


@click.command(
    "report",
    epilog=examples(
        "tidegate report                                 the only shift there is, as a table",
        "tidegate report translator --file report.html   a page with plots, to keep or to send",
        "tidegate report translator -o markdown          for a pull request",
    ),
)
@name_argument
@click.option(
    "-o",
    "--output",
    type=click.Choice(list(Page), case_sensitive=False),
    help="How to write it; else by the ending of --file (.html, .md, .json, .yaml), else a table.",
)
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Write it there instead of to standard output.",
)
@namespace_option
@state_dir_option
def command(name: str, output: Page | None, file: Path | None, namespace: str, state_dir: Path) -> None:
    """Compare both versions of a shift that runs or has finished: a row a metric with the difference, its bounds and
    its verdict in words.

    A shift that names a `baseline` is compared with that earlier window too, which is the weaker proof. HTML is one
    file with plots that loads nothing from elsewhere.
    """
    view = run(_read(state_dir, namespace, name))
    page = output or (BY_SUFFIX.get(file.suffix.lower(), Page.TABLE) if file else Page.TABLE)
    if file is None and page is Page.TABLE:
        look = out_look()
        look.print(screen("report:report_screen", view)(look))
        return
    text = WRITTEN[Page(page)](view)
    if file is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    _write(file, text)
    progress(f"{file} is written")


async def _read(state_dir: Path, namespace: str, name: str) -> "ReportView":
    from control.view.report import report_view

    async with controller(state_dir) as client:
        shift = await resolve(client, namespace, name)
        journal = await client.history(shift.namespace, shift.name)
        earlier = await _baseline(client, shift)
    return report_view(shift.document, journal, datetime.now(UTC), earlier)


async def _baseline(client: "ShiftClient", shift: "ShiftDocument") -> "Baseline":
    """The earlier window that the spec names, or why nothing is known of it."""
    from control.view.report import NOT_ASKED, Baseline

    if not isinstance(shift.spec.get("baseline"), Mapping):
        return NOT_ASKED
    try:
        return Baseline(found=await client.baseline(shift.namespace, shift.name))
    except (Unavailable, Refused) as error:
        return Baseline(missing=f"{error.message} ({error.hint})" if error.hint else error.message)


def _table(view: "ReportView") -> str:
    """The table without colours, for a file."""
    import io

    from control.cli.look import look_at

    paper = io.StringIO()
    look = look_at(paper)
    look.print(screen("report:report_screen", view)(look))
    return paper.getvalue()


def _markdown(view: "ReportView") -> str:
    from control.view.markdown import markdown

    return markdown(view)


def _html(view: "ReportView") -> str:
    from control.cli.report import html

    return html(view)


WRITTEN: Mapping[Page, "Callable[[Any], str]"] = {
    Page.TABLE: _table,
    Page.JSON: lambda view: json_text(plain(view)) + "\n",
    Page.YAML: lambda view: yaml_text(plain(view)),
    Page.MARKDOWN: _markdown,
    Page.HTML: _html,
}


def _write(file: Path, text: str) -> None:
    """Raises Refused when it can't be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused(f"{file} can't be written: {error.strerror}", "name another file") from None
