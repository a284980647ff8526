"""Who is read, who can't be, who is gone: by the age of the newest scrape, and by what Prometheus knows."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.presence import Presence
from control.adapters.prometheus.rounds import milliseconds
from control.adapters.prometheus.slots import Part, Slot
from control.adapters.prometheus.streams import Counter, Stream
from control.engine.readings import SeriesKey
from tests.support.control_time import NOON

INTERVAL = timedelta(seconds=15)


def stream(name: str, age_s: float, *, now: datetime = NOON) -> Stream:
    time = milliseconds(now - timedelta(seconds=age_s))
    slot = Slot(Part.ENDED, SeriesKey("v1", name, "gw"), 0)
    return Stream(name, frozenset({name}), (Counter(name, name, ((slot, 1),), {time: 5}),), (time,))


class Targets:
    """Answers about `up`: (age in seconds, value) by instance; those that are not in it are unknown."""

    def __init__(self, **known: tuple[float, float]) -> None:
        self.known = known
        self.asked: list[set[str]] = []

    async def up(self, instances: Iterable[str], now: datetime) -> Iterable[Series]:
        self.asked.append(set(instances))
        return [
            Series({"instance": each}, ((milliseconds(now - timedelta(seconds=age_s)), value),))
            for each, (age_s, value) in self.known.items()
            if each in self.asked[-1]
        ]


CASES = [
    ("scraped", 10, None, (), True),
    ("two scrapes missed", 44, None, (), True),
    ("known, its scrapes fail", 46, (5, 0), ("a",), False),
    ("known, and Prometheus itself scrapes no more", 46, (50, 1), ("a",), False),
    ("began anew and has no counters yet", 46, (5, 1), (), True),
    ("gone from the targets", 46, None, (), False),
]


@pytest.mark.parametrize(
    ("age_s", "target", "unread", "scraped"), [each[1:] for each in CASES], ids=[each[0] for each in CASES]
)
async def test_a_process(
    age_s: float, target: tuple[float, float] | None, unread: tuple[str, ...], scraped: bool
) -> None:
    targets = Targets(**({"a": target} if target else {}))
    found = await Presence(targets.up, INTERVAL).of("x", {"a": stream("a", age_s)}, NOON)
    assert (found.unread, found.scraped) == (unread, frozenset({"a"} if scraped else ()))
    assert [each.process for each in found.streams] == ["a"], "what it has counted is known in any case"


async def test_nobody_is_asked_about_while_all_are_scraped() -> None:
    targets = Targets()
    await Presence(targets.up, INTERVAL).of("x", {"a": stream("a", 10)}, NOON)
    assert targets.asked == []


async def test_who_drops_out_of_an_answer_is_remembered_for_a_while() -> None:
    targets = Targets(a=(1, 0))
    presence = Presence(targets.up, INTERVAL)
    await presence.of("x", {"a": stream("a", 0)}, NOON)
    for minutes, there in ((1, ["a"]), (14, ["a"]), (16, [])):
        found = await presence.of("x", {}, NOON + timedelta(minutes=minutes))
        assert [each.process for each in found.streams] == there
        assert list(found.unread) == there
    other = await presence.of("y", {}, NOON)
    assert other.streams == (), "nobody else's processes"


async def test_a_replica_that_is_behind_takes_nothing_back() -> None:
    presence = Presence(Targets().up, INTERVAL)
    await presence.of("x", {"a": stream("a", 5)}, NOON)
    (kept,) = (await presence.of("x", {"a": stream("a", 20)}, NOON)).streams
    assert kept.newest == milliseconds(NOON - timedelta(seconds=5))


async def test_a_process_without_a_target_is_unread_once_it_is_old() -> None:
    targets = Targets()
    found = await Presence(targets.up, INTERVAL).of("x", {"": stream("", 60)}, NOON)
    assert (found.unread, targets.asked) == (("",), [])
