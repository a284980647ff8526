"""What must be watched when a release changes how calls are made?

A longer time-out turns failures into slow answers, and more tries hide a version that fails: whoever counts failures
only would call both an improvement.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from control.spec.metric import BuiltInName
from control.spec.mistake import Mistake
from control.spec.shift import Change, TrafficShift

NEEDED = (BuiltInName.LATENCY, BuiltInName.ATTEMPTS)
WORDS = {Change.TIMEOUT: "its time-out", Change.RETRIES: "its retries"}


def release_rule(shift: TrafficShift, differing: Sequence[str]) -> tuple[Mistake, ...]:
    """What a shift fails to watch, given how the versions' calls differ in the documents of the mesh.

    `differing` are words for what differs, such as `timeout`, `retries`.
    Example: a shift that watches outcomes only, with versions that differ in `timeout`: one mistake.
    """
    return tuple(_unwatched(dict.fromkeys(differing), [each.name for each in shift.metrics], "the mesh says"))


def release_mistakes(changes: Sequence[object], watched: Collection[str]) -> Iterator[Mistake]:
    """The same for what the text itself says that the release changes."""
    known = [str(each) for each in changes if each in tuple(Change)]
    yield from _unwatched(dict.fromkeys(known), watched, "changes says")


def _unwatched(differing: Iterable[str], watched: Collection[str], who: str) -> Iterator[Mistake]:
    missing = [name.value for name in NEEDED if name not in watched]
    what = " and ".join(WORDS[Change(each)] if each in tuple(Change) else each for each in differing)
    if missing and what:
        yield Mistake(
            ("spec", "metrics"),
            f"{who} that the release changes {what}, and {' and '.join(missing)} {_is(missing)} not watched",
            f"add {' and '.join(f'{{name: {name}}}' for name in missing)}: failures alone would look better",
        )


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
