"""Every `tidegate ...` that a hint, a screen or a page tells a person to type is one that the tool takes."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from control.cli.main import VERBS, cli
from control.engine.words import WORDS
from control.view.explain import MOVES_OF_PHASE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "control").rglob("*.py"))
QUOTED = re.compile(r"`(tidegate [^`]+)`")
SPOKEN = re.compile(r"\btidegate ([a-z][a-z-]*)((?: -{1,2}[a-z][a-z-]*)*)")
"""A command in a sentence: its verb, and options that follow at once; the words after it are the sentence's."""


def said() -> Iterator[tuple[str, str]]:
    """Every whole command line, and where it stands."""
    for cause, words in WORDS.items():
        if words.command:
            yield f"words of {cause}", f"tidegate {words.command}"
    for phase, moves in MOVES_OF_PHASE.items():
        yield from ((f"moves of {phase}", f"tidegate {move}") for move in moves)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        where = str(page.relative_to(ROOT))
        yield from ((where, line) for line in QUOTED.findall(text))
        yield from ((where, line.strip()) for line in typed(text))
    for source in SOURCES:
        where = str(source.relative_to(ROOT))
        yield from ((where, line) for text in texts(source) for line in QUOTED.findall(text))


def typed(page: str) -> Iterator[str]:
    """The lines of a page's code blocks that begin with the command."""
    for block in re.findall(r"^```[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        yield from (line.removeprefix("$ ") for line in map(str.strip, block.splitlines()) if is_typed(line))


def is_typed(line: str) -> bool:
    verb = line.removeprefix("$ ").removeprefix("tidegate ").split(" ")[0]
    return line.removeprefix("$ ").startswith("tidegate ") and verb in VERBS


def texts(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def words_of(line: str) -> list[str]:
    """The words after `tidegate`, as a shell would give them, without remarks and choices."""
    line = re.split(r"\s{2,}|\s+(?:&&|[|#>])\s?", line)[0]
    return shlex.split(re.sub(r"\[[^\]]*\]", "", line).replace("...", ""))[1:]


def top() -> click.Context:
    """As the tool makes it: commands remember the help options of the first context that asks."""
    return click.Context(cli, info_name="tidegate", **cli.context_settings)


def parse(words: list[str]) -> None:
    """Takes options and arguments apart as the real command does, without running it or opening its files."""
    command: click.Command = cli
    context = top()
    while True:
        left = command.make_parser(context).parse_args(words)[1]
        if not isinstance(command, click.Group) or not left:
            break
        name, found, words = command.resolve_command(context, left)
        assert found is not None
        command, context = found, click.Context(found, info_name=name, parent=context, **found.context_settings)
    assert not left or context.allow_extra_args, f"{command.name} takes no {left}"


@pytest.mark.parametrize(("where", "line"), sorted(set(said())))
def test_a_command_line_is_one_that_the_tool_takes(where: str, line: str) -> None:
    try:
        parse(words_of(line))
    except click.UsageError as error:
        pytest.fail(f"{where}: {line}: {error.format_message()}")


@pytest.mark.parametrize(
    "line", ["tidegate apply -f FILE", "tidegate frobnicate", "tidegate pause a b", "tidegate mesh go x"]
)
def test_one_that_it_does_not_take_is_found(line: str) -> None:
    with pytest.raises((click.UsageError, AssertionError)):
        parse(words_of(line))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_command_in_a_sentence_names_a_verb_and_options_that_exist(source: Path) -> None:
    for text in texts(source):
        for verb, options in SPOKEN.findall(text):
            if verb in VERBS or options:
                parse_options(verb, options.split())


def parse_options(verb: str, options: list[str]) -> None:
    command = cli.get_command(top(), verb)
    assert command is not None, f"there is no tidegate {verb}"
    known = {
        name
        for each in command.get_params(click.Context(command, parent=top()))
        for name in (*each.opts, *each.secondary_opts)
    }
    assert set(options) <= known | {"-h", "--help"}, (verb, options)
