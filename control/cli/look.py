"""Which signs and colours does this terminal take? One `Look` a stream: Unicode or ASCII, in place or line by line.

Colours are rich's business: it honours NO_COLOR, TERM=dumb and pipes by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, TextIO

from control.view.model import StepMark, Tone

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 2000
STYLE_OF_TONE = {
    Tone.GOOD: "bold green",
    Tone.BUSY: "bold cyan",
    Tone.WAITING: "cyan",
    Tone.WARN: "bold yellow",
    Tone.BAD: "bold red",
    Tone.IDLE: "default",
}
STYLE_OF_MARK = {
    StepMark.DONE: "green",
    StepMark.CURRENT: "bold cyan",
    StepMark.FAILED: "bold red",
    StepMark.STOPPED: "bright_black",
    StepMark.AHEAD: "bright_black",
}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs of one character set. `eighths` are cells filled from one part to wholly; `levels` rise,
    `shades` darken from nothing on.
    """

    eighths: str
    empty: str
    levels: str
    shades: str
    arrow: str
    branch: str
    last: str
    dash: str
    marks: dict[StepMark, str]


UNICODE = Glyphs(
    eighths="▏▎▍▌▋▊▉█",
    empty="░",
    levels="▁▂▃▄▅▆▇█",
    shades=" ░▒▓█",
    arrow="→",
    branch="├─",
    last="└─",
    dash="─",
    marks={
        StepMark.DONE: "✓",
        StepMark.CURRENT: "●",
        StepMark.FAILED: "✗",
        StepMark.STOPPED: "-",
        StepMark.AHEAD: "○",
    },
)
ASCII = Glyphs(
    eighths="#",
    empty=".",
    levels="_.-=#",
    shades=" .:+#",
    arrow="->",
    branch="|-",
    last="`-",
    dash="-",
    marks={
        StepMark.DONE: "+",
        StepMark.CURRENT: "*",
        StepMark.FAILED: "x",
        StepMark.STOPPED: "-",
        StepMark.AHEAD: "o",
    },
)


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw on one stream. What is piped is never wrapped: a record stays a line."""

    glyphs: Glyphs
    console: "Console"

    @property
    def in_place(self) -> bool:
        """True where lines can be drawn over: a terminal that is not dumb."""
        return self.console.is_terminal and not self.console.is_dumb_terminal

    def print(self, drawing: "RenderableType") -> None:
        """Prints with no spaces at the ends of lines where no terminal needs them."""
        if self.console.is_terminal:
            self.console.print(drawing)
            return
        with self.console.capture() as captured:
            self.console.print(drawing)
        lines = "\n".join(line.rstrip() for line in captured.get().splitlines())
        self.console.file.write(lines + "\n")
        self.console.file.flush()

    def bar(self, ratio: float | None, width: int) -> str:
        """A bar of `width` cells; something above 0 always shows, something below 1 is never full."""
        if ratio is None:
            return "?".ljust(width)
        parts = len(self.glyphs.eighths)
        filled = min(width * parts, max(0, floor(ratio * width * parts + 0.5)))
        filled = max(filled, 1) if ratio > 0 else 0
        filled = min(filled, width * parts - 1) if ratio < 1 else width * parts
        whole, rest = divmod(filled, parts)
        text = self.glyphs.eighths[-1] * whole + (self.glyphs.eighths[rest - 1] if rest else "")
        return text + self.glyphs.empty * (width - len(text))

    def spark(self, values: Sequence[float], top: float = 1.0) -> str:
        """One rising sign a value. Units: values from 0 to `top`."""
        levels = self.glyphs.levels
        scale = (len(levels) - 1) / top if top > 0 else 0.0
        return "".join(levels[min(len(levels) - 1, max(0, round(value * scale)))] for value in values)


def look_at(stream: TextIO, *, ascii_only: bool = False) -> Look:
    """The look of a stream: ASCII when it is asked for or the stream's encoding can't carry more."""
    from rich.console import Console

    unicode = not ascii_only and (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console = Console(file=stream, highlight=False, emoji=False, markup=False, width=PIPE_WIDTH)
    return Look(UNICODE if unicode else ASCII, console)
