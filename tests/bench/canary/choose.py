"""What is to run? The environment's words (`SEEDS=1-1000 SCENARIO=late POLICY=tidegate`) as stages of cells and seeds.

Without a word: the gates' cells, then every scenario against every peer. `FULL=1` adds the cross with every shape, and
two more rates. A word that narrows (SCENARIO, SHAPE, RPS, POLICY) runs just what it says; lists have commas, names may
have `*`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import product
from math import isfinite
from pathlib import Path
from typing import TypeVar

from tests.bench.canary.entrants import ENTRANTS, PEERS
from tests.bench.canary.gates import needed
from tests.bench.canary.heats import Cell
from tests.bench.canary.scenarios import SCENARIOS
from tests.bench.canary.shapes import SHAPES

T = TypeVar("T")
OURS = "tidegate"
RIVALS = (OURS, *(peer.name for peer in PEERS))
"""Who is compared by cost: the default spec, and every peer."""
RATES, MORE_RATES, MOST_RPS = (50.0,), (5.0, 500.0), 100_000.0
MOST_SEEDS = 100_000
HOURLY, BRIEF, AGAINST_PEERS, CROSSED, CHOSEN = 80, 400, 80, 20, 100
"""Runs a cell: of gates whose runs take long or the whole hour, of other gates, against peers, of the full cross, and
of what somebody chose without saying how many."""
LONG = frozenset({"tidegate", "tidegate-history", "tidegate-fixed", "tidegate-fixed-history"})
CLOSE_CALLS = frozenset(product(["tidegate-fixed"], ["aa-clumps-20-0.3", "aa-clumps-20-2.1"]))
GATES_TITLE, PEERS_TITLE, CROSS_TITLE = "gates", "peers", "full cross"
NARROWING = ("SCENARIO", "SHAPE", "RPS", "POLICY")


class Refused(Exception):
    """What can't be run, all of it."""

    def __init__(self, problems: Iterable[str]) -> None:
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody asked for; nothing: the defaults. `pages`: where they are written, of whole runs only."""

    seeds: tuple[int, ...] = ()
    scenarios: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    rates: tuple[float, ...] = ()
    policies: tuple[str, ...] = ()
    json: Path | None = None
    full: bool = False
    pages: Path | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not (self.scenarios or self.shapes or self.rates or self.policies)


@dataclass(frozen=True, slots=True)
class Stage:
    """Every cell with every seed."""

    title: str
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]

    @property
    def runs(self) -> int:
        return len(self.cells) * len(self.seeds)


@dataclass(slots=True)
class Reader:
    """Reads words one by one, and keeps what is wrong with them."""

    environ: Mapping[str, str]
    problems: list[str] = field(default_factory=list)

    def parts(self, word: str) -> list[str]:
        return [part.strip() for part in self.environ.get(word, "").split(",") if part.strip()]

    def all_of(self, word: str, read: Callable[[str], Iterable[T]]) -> tuple[T, ...]:
        """Each part read, without repetition."""
        found: dict[T, None] = {}
        for part in self.parts(word):
            try:
                found |= dict.fromkeys(read(part))
            except ValueError as error:
                self.problems.append(f"{word}={part}: {error}")
        return tuple(found)

    def names(self, word: str, known: Iterable[str]) -> tuple[str, ...]:
        """Every name that one of the patterns fits; once at the end, what there is."""
        before, found = len(self.problems), self.all_of(word, lambda part: named(part, known))
        if len(self.problems) > before:
            self.problems.append(f"{word} can be {', '.join(known)}, or a pattern with *")
        return found

    def path(self, word: str) -> Path | None:
        """A place to write to, in a folder that is there."""
        text = self.environ.get(word, "").strip()
        if text and not (Path(text).parent).is_dir():
            self.problems.append(f"{word}={text}: there is no folder {Path(text).parent}")
        return Path(text) if text else None

    def flag(self, word: str) -> bool:
        text = self.environ.get(word, "").strip()
        if text not in ("", "0", "1"):
            self.problems.append(f"{word}={text}: 1 or 0")
        return text == "1"


def chosen(environ: Mapping[str, str]) -> Choice:
    """Raises: Refused, with everything that is wrong."""
    read = Reader(environ)
    choice = Choice(
        seeds=read.all_of("SEEDS", seeds),
        scenarios=read.names("SCENARIO", SCENARIOS),
        shapes=read.names("SHAPE", SHAPES),
        rates=read.all_of("RPS", rate),
        policies=read.names("POLICY", ENTRANTS),
        json=read.path("JSON"),
        full=read.flag("FULL"),
        pages=read.path("PAGES"),
    )
    problems = [*read.problems, *contradictions(choice)]
    if problems:
        raise Refused(problems)
    return choice


def contradictions(choice: Choice) -> list[str]:
    found = []
    if choice.pages and not choice.whole:
        found.append(f"PAGES={choice.pages}: pages tell of whole runs, without {', '.join(NARROWING)}")
    if len(choice.seeds) > MOST_SEEDS:
        found.append(f"SEEDS: {len(choice.seeds)} of them; at most {MOST_SEEDS}")
    return found


def seeds(part: str) -> Iterable[int]:
    """One, or a range. Example: "3" is 3; "1-3" is 1, 2, 3. Raises: ValueError."""
    first, _, last = part.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()) or part.endswith("-"):
        raise ValueError("a whole number, or two with a dash: 7 or 1-1000")
    low, high = int(first), int(last or first)
    if low > high:
        raise ValueError("a range begins with its lower number")
    if high - low >= MOST_SEEDS:
        raise ValueError(f"at most {MOST_SEEDS} seeds")
    return range(low, high + 1)


def rate(part: str) -> Iterable[float]:
    """Requests a second. Raises: ValueError."""
    try:
        rps = float(part)
    except ValueError:
        rps = 0.0
    if not (isfinite(rps) and 0 < rps <= MOST_RPS):
        raise ValueError(f"requests a second: a number above 0, at most {MOST_RPS:g}")
    return (rps,)


def named(part: str, known: Iterable[str]) -> Iterable[str]:
    """Every name that a pattern fits. Raises: ValueError."""
    names = list(known)
    found = [name for name in names if fnmatchcase(name, part)]
    if not found:
        close = get_close_matches(part, names, n=1)
        raise ValueError(f"did you mean {close[0]}?" if close else "there is none of that name")
    return found


def plan(choice: Choice) -> tuple[Stage, ...]:
    """The stages, one after the other; no cell comes twice."""
    if not choice.whole:
        return (Stage("chosen", narrowed(choice), choice.seeds or first_seeds(CHOSEN)),)
    gated = needed()
    peers = tuple(Cell(policy, scenario) for scenario, policy in product(SCENARIOS, RIVALS))
    stages = [
        Stage(GATES_TITLE, tuple(cell for cell in gated if hourly(cell)), first_seeds(HOURLY)),
        Stage(GATES_TITLE, tuple(cell for cell in gated if not hourly(cell)), first_seeds(BRIEF)),
        Stage(PEERS_TITLE, tuple(cell for cell in peers if cell not in gated), first_seeds(AGAINST_PEERS)),
    ]
    if choice.full:
        before = {*gated, *peers}
        stages.append(Stage(CROSS_TITLE, tuple(cell for cell in cross() if cell not in before), first_seeds(CROSSED)))
    return tuple(Stage(stage.title, stage.cells, choice.seeds or stage.seeds) for stage in stages)


def hourly(cell: Cell) -> bool:
    """Takes long, and few runs tell. Where a few of a hundred go wrong, as in the heaviest clumps, it takes more."""
    return cell.policy in LONG and (cell.policy, cell.scenario) not in CLOSE_CALLS


def first_seeds(number: int) -> tuple[int, ...]:
    return tuple(range(1, number + 1))


def narrowed(choice: Choice) -> tuple[Cell, ...]:
    """Each with each; what is not said is the default, or everything with FULL=1."""
    shapes = choice.shapes or (tuple(SHAPES) if choice.full else ("steady",))
    every = product(choice.scenarios or SCENARIOS, choice.policies or RIVALS, shapes, choice.rates or RATES)
    return tuple(Cell(policy, scenario, shape, rps) for scenario, policy, shape, rps in every)


def cross() -> Iterable[Cell]:
    """Every scenario, shape and rival; a steady load also at the other rates."""
    for scenario, policy in product(SCENARIOS, RIVALS):
        yield from (Cell(policy, scenario, shape) for shape in SHAPES)
        yield from (Cell(policy, scenario, "steady", rps) for rps in MORE_RATES)
