"""Which lines, bands and words make up a plot? Shapes with coordinates, for whatever draws them.

Styles are names that a page gives colours to, so that a drawing looks right on light and on dark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log10

from control.view import format as words
from control.view.over_time import Moment
from control.view.report import ReportRow, ReportView

WIDTH, HEIGHT = 1000.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 40.0, 14.0, 26.0
ROW_WIDTH, ROW_HEIGHT, MIDDLE = 270.0, 46.0, 16.0
SHARES = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)
LOWEST = -1.0
"""Units: log10 of odds. What speaks against harm more strongly than 1 : 10 stands at the bottom."""
FURTHEST = 4.0
"""So many times the margin of a promotion, the bounds of a row are drawn."""
BEND = 0.4
"""The exponent that gives small shares room: 1 % stands at a sixth of the height."""
TIMES_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800)


@dataclass(frozen=True, slots=True)
class Line:
    """Points that are joined, as the path of an SVG has them."""

    path: str
    style: str


@dataclass(frozen=True, slots=True)
class Band:
    x: float
    y: float
    width: float
    height: float
    style: str


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    radius: float
    style: str


@dataclass(frozen=True, slots=True)
class Words:
    """Text at a place; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str
    style: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """`told` is what it shows, for those who can't see it."""

    width: float
    height: float
    told: str
    bands: tuple[Band, ...] = ()
    lines: tuple[Line, ...] = ()
    dots: tuple[Dot, ...] = ()
    words: tuple[Words, ...] = ()


def share_drawing(view: ReportView) -> Drawing | None:
    """The canary's share over time, as steps; None where nothing is known of it."""
    if not view.share_over_time or view.lasted_s <= 0:
        return None
    points = [(_x(each.at_s, view.lasted_s), _share_y(each.value)) for each in view.share_over_time]
    end = (_x(view.lasted_s, view.lasted_s), points[-1][1])
    highest = max(each.value for each in view.share_over_time)
    return Drawing(
        WIDTH,
        HEIGHT,
        f"The share of {view.canary} over time: up to {words.percent(highest)}",
        lines=(*_grid(_share_y(each) for each in SHARES), Line(_stairs([*points, end]), "canary")),
        dots=tuple(Dot(x, y, 3.0, "canary") for x, y in points),
        words=(*(_beside(_share_y(each), words.percent(each)) for each in SHARES), *_times(view.lasted_s)),
    )


def evidence_drawing(view: ReportView) -> Drawing | None:
    """Evidence for harm over time, and the bars at which it holds and rolls back; None with less than two values."""
    found = view.evidence_over_time
    if len(found) < 2 or view.lasted_s <= 0:
        return None
    most = max(log10(view.fail_at) + 0.5, *(_log(each) for each in found))
    bars = ((view.fail_at, "fail", "rolls back"), (view.hold_at, "hold", "holds"), (1.0, "grid", ""))
    points = [(_x(each.at_s, view.lasted_s), _odds_y(_log(each), most)) for each in found]
    return Drawing(
        WIDTH,
        HEIGHT,
        f"Evidence for harm over time: {words.odds(found[-1].value)} at the end",
        lines=(
            *(_across(_odds_y(log10(bar), most), style) for bar, style, _ in bars),
            Line(_joined(points), "canary"),
        ),
        dots=tuple(Dot(x, y, 3.0, "canary") for x, y in points),
        words=(
            *(_beside(_odds_y(log10(bar), most), words.odds(bar)) for bar, _, _ in bars),
            *(
                Words(WIDTH - RIGHT, _odds_y(log10(bar), most) - 4, name, "end", "small")
                for bar, _, name in bars
                if name
            ),
            *_times(view.lasted_s),
        ),
    )


def row_drawing(row: ReportRow) -> Drawing | None:
    """One test: stable's rate, what is tolerated beyond it, and the canary's rate with the bounds of the difference.

    Bounds that are far beyond the margins run out of the drawing, without an end.
    """
    stable, found = row.stable.ratio, row.difference
    if stable is None or row.canary.ratio is None or row.tolerated is None or row.proven is None:
        return None
    centre = max(stable + found.estimate, 0.0) if found else row.canary.ratio
    low, high = (max(stable + each, 0.0) for each in (found.low, found.high)) if found else (centre, centre)
    most = 1.08 * max(row.proven, row.tolerated, centre, min(high, FURTHEST * row.proven), 1e-9)
    known = f"{words.percent(low)} to {words.percent(high)}" if found else "unknown bounds"

    def at(rate: float) -> float:
        return round(8 + (ROW_WIDTH - 16) * min(rate, most) / most, 1)

    ends = "".join(f"M{at(each)} 11v10" for each in (low, high) if each < most)
    return Drawing(
        ROW_WIDTH,
        ROW_HEIGHT,
        f"{row.title}: stable {words.percent(stable)}, canary {known}; tolerated up to {words.percent(row.tolerated)}",
        bands=(
            Band(at(0.0), 4.0, at(row.proven) - at(0.0), 24.0, "proven"),
            Band(at(0.0), 4.0, at(row.tolerated) - at(0.0), 24.0, "tolerated"),
        ),
        lines=(
            Line(f"M{at(stable)} 2V30", "stable"),
            Line(f"M{at(low)} {MIDDLE}H{at(high)}{ends}", row.tone.value),
        ),
        dots=(Dot(at(centre), MIDDLE, 4.5, row.tone.value),),
        words=(
            Words(8.0, 42.0, "0", "start", "small"),
            Words(max(at(row.proven), 44.0), 42.0, words.percent(row.proven), "middle", "small"),
        ),
    )


def _log(moment: Moment) -> float:
    return max(log10(moment.value), LOWEST) if moment.value > 0 else LOWEST


def _x(at_s: float, lasted_s: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * min(at_s / lasted_s, 1.0), 1)


def _share_y(share: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * float(share**BEND), 1)


def _odds_y(log_odds: float, most: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log_odds - LOWEST) / (most - LOWEST), 1)


def _grid(heights: Iterator[float]) -> Iterator[Line]:
    return (_across(y, "grid") for y in heights)


def _across(y: float, style: str) -> Line:
    return Line(f"M{LEFT} {y}H{WIDTH - RIGHT}", style)


def _beside(y: float, text: str) -> Words:
    return Words(LEFT - 8, y + 4, text, "end", "small")


def _above(y: float, text: str) -> Words:
    return Words(WIDTH - RIGHT, y - 4, text, "end", "small")


def _stairs(points: Sequence[tuple[float, float]]) -> str:
    (x, y), *rest = points
    return f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in rest)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)


def _times(lasted_s: float) -> Iterator[Words]:
    """At most seven moments in round numbers, from the beginning on."""
    pace = next((each for each in TIMES_S if lasted_s / each <= 6), TIMES_S[-1])
    for number in range(int(lasted_s // pace) + 1):
        yield Words(_x(number * pace, lasted_s), HEIGHT - 8, clock_of(number * pace), "middle", "small")


def clock_of(seconds: int) -> str:
    """Example: 0 is "0", 90 is "1:30 min", 45 is "45 s", 7200 is "2 h", 90000 is "25 h"."""
    if seconds < 60:
        return f"{seconds} s" if seconds else "0"
    if seconds < 3600:
        return f"{seconds // 60}:{seconds % 60:02d} min" if seconds % 60 else f"{seconds // 60} min"
    return f"{seconds // 3600}:{seconds % 3600 // 60:02d} h" if seconds % 3600 else f"{seconds // 3600} h"
