"""What grew within a span of the past: scrape by scrape, from the one before it, resets included."""

import pytest

from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.growth import Growth
from control.adapters.prometheus.slots import Part, Slot, Slots
from control.adapters.prometheus.streams import counters, process, streams
from control.engine.readings import SeriesKey


def ended(code: str, **samples: int) -> Series:
    return Series({"instance": "a", "code": code}, tuple((int(s[1:]), n) for s, n in samples.items()))


def slots(labels, name: str) -> Slots:  # type: ignore[no-untyped-def]
    return ((Slot(Part.ENDED, SeriesKey("v1", name, "gw"), int(labels["code"])), 1),)


def grown(begin: int, *stretches: list[Series]) -> dict[int, int]:
    growth = Growth(begin)
    for stretch in stretches:
        growth.add(streams(counters(stretch, process, slots)).values())
    return {int(slot.at): n for slot, n in growth.total.items()}


@pytest.mark.parametrize(
    ("stretches", "expected"),
    [
        pytest.param([[ended("0", s5=100, s15=130)]], {0: 30}, id="from the scrape before the beginning"),
        pytest.param([[ended("0", s5=100, s10=120, s15=130)]], {0: 10}, id="from the last scrape before it"),
        pytest.param([[ended("0", s15=130, s20=131)]], {0: 1}, id="a process that is new says nothing of before"),
        pytest.param([[ended("0", s5=100, s15=3, s20=4)]], {0: 4}, id="a reset"),
        pytest.param(
            [[ended("0", s5=100, s15=3), ended("14", s5=2, s15=2)]], {0: 3, 14: 2}, id="where one fell, all began anew"
        ),
        pytest.param([[ended("0", s5=1, s15=2), ended("14", s15=4)]], {0: 1, 14: 4}, id="a new code began at 0"),
        pytest.param(
            [[ended("0", s5=1, s15=2)], [ended("0", s15=2, s20=7)]], {0: 6}, id="stretches overlap, and nothing twice"
        ),
        pytest.param([[ended("0", s5=1, s15=2)], [ended("0", s20=7)]], {0: 6}, id="stretches that meet"),
        pytest.param([[]], {}, id="nothing"),
    ],
)
def test_growth_since_10(stretches: list[list[Series]], expected: dict[int, int]) -> None:
    assert grown(10, *stretches) == expected
