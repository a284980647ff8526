"""Which programs make up one of Apertium's modes?

A mode file is one line of shell: programs joined by `|`, with `$1` for the generator's switch and `$2` for the
tagger's. It is read as data and never given to a shell. `-g` marks words that the engine does not know; `-z` makes
every program flush at a NUL, which is what lets one process group serve many texts.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

MODES_DIR = Path("/usr/share/apertium/modes")
PROGRAMS = frozenset(
    {
        "apertium-anaphora", "apertium-interchunk", "apertium-postchunk", "apertium-posttransfer",
        "apertium-pretransfer", "apertium-tagger", "apertium-transfer", "cg-proc", "lrx-proc", "lsx-proc", "lt-proc",
        "rtx-proc",
    }
)  # fmt: skip
_SWITCHES = {"$1": ("-g",), "$2": ()}


class ModeError(ValueError):
    """The mode file is not a plain pipeline of Apertium's programs."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode's name and its stages, each the argument list of one program."""

    name: str
    stages: tuple[tuple[str, ...], ...]

    def data_files(self) -> list[Path]:
        """The files that its programs read, in order of first mention."""
        named = (argument for stage in self.stages for argument in stage[1:] if argument.startswith("/"))
        return [Path(path) for path in dict.fromkeys(named)]


def parse_mode(name: str, text: str) -> Mode:
    """The mode that `text` describes.

    Raises: ModeError when it is anything but programs of Apertium joined by pipes.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    stages: list[list[str]] = [[]]
    try:
        for token in lexer:
            if token == "|":  # noqa: S105 (a shell token)
                stages.append([])
            else:
                stages[-1].append(token)
    except ValueError as error:
        raise ModeError(f"mode {name}: {error}") from error
    return Mode(name, tuple(_stage(name, words) for words in stages))


def read_mode(name: str, folder: Path = MODES_DIR) -> Mode:
    """The installed mode of that name.

    Raises: FileNotFoundError when it is not installed, ModeError when it is not understood.
    """
    return parse_mode(name, (folder / f"{name}.mode").read_text(encoding="utf-8"))


def _stage(mode: str, words: list[str]) -> tuple[str, ...]:
    if not words or words[0] not in PROGRAMS:
        raise ModeError(f"mode {mode}: {words[0] if words else 'an empty stage'!r} is not one of Apertium's programs")
    arguments = [argument for word in words[1:] for argument in _SWITCHES.get(word, (word,))]
    odd = [argument for argument in arguments if set(argument) & set("$`&;<>()|")]
    if odd:
        raise ModeError(f"mode {mode}: {odd[0]!r} would need a shell")
    return (words[0], "-z", *arguments)
