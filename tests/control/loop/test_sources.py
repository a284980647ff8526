"""Who is asked for which counters, and what a shift is told when somebody can't answer."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from control.engine.readings import Counts, Ratio, Reading, SeriesKey
from control.errors import Unavailable
from control.loop.sources import PrometheusAlone, Sources
from control.ports import MetricsQuery
from control.spec import RatioQuery, Source, UserMetric
from tests.support.control_time import NOON

KEY = SeriesKey("v1", "p", "gw")
MINE = UserMetric("mine", RatioQuery("bad", "total"))
QUERY = MetricsQuery("default", "echo", ("v1", "v2"))
BUILT_IN = Reading(NOON, {KEY: Counts(ended={0: 5})}, unread=("gw-2",))
OWN = Reading(NOON - timedelta(seconds=3), {}, ratios={"mine": {KEY: Ratio(7, 1)}}, troubles={"other": "odd"})


@dataclass
class Scripted:
    """Answers as it is told, and remembers what it was asked."""

    answer: Reading | Unavailable
    asked: list[MetricsQuery] = field(default_factory=list)

    async def read(self, query: MetricsQuery) -> Reading:
        self.asked.append(query)
        if isinstance(self.answer, Unavailable):
            raise self.answer
        return self.answer


async def test_without_metrics_of_ones_own_the_mesh_alone_is_asked() -> None:
    prometheus = Scripted(OWN)
    assert await Sources(Scripted(BUILT_IN), prometheus).read(QUERY) is BUILT_IN
    assert prometheus.asked == []


async def test_a_shift_that_counts_by_prometheus_asks_nobody_else() -> None:
    mesh, query = Scripted(BUILT_IN), replace(QUERY, source=Source.PROMETHEUS, metrics=(MINE,))
    prometheus = Scripted(OWN)
    assert await Sources(mesh, prometheus).read(query) is OWN
    assert (mesh.asked, prometheus.asked) == ([], [query])


async def test_ones_own_metrics_come_beside_the_meshs_counters() -> None:
    mesh, query = Scripted(BUILT_IN), replace(QUERY, metrics=(MINE,))
    found = await Sources(mesh, Scripted(OWN)).read(query)
    assert (found.at, found.series, found.unread) == (NOON, BUILT_IN.series, ("gw-2",))
    assert (found.ratios, found.troubles) == (OWN.ratios, OWN.troubles)
    assert mesh.asked == [QUERY]


@pytest.mark.parametrize(
    ("prometheus", "said"),
    [
        (None, "no Prometheus is configured (set TIDEGATE_PROMETHEUS_URL for the controller)"),
        (Scripted(Unavailable("it is away", hint="start it")), "it is away (start it)"),
        (Scripted(Unavailable("it is away")), "it is away"),
    ],
    ids=["none", "away, with a hint", "away"],
)
async def test_a_metric_that_cannot_be_read_is_a_trouble_of_that_metric_alone(
    prometheus: Scripted | None, said: str
) -> None:
    found = await Sources(Scripted(BUILT_IN), prometheus).read(replace(QUERY, metrics=(MINE,)))
    assert found == replace(BUILT_IN, troubles={"mine": said})


async def test_who_counts_by_prometheus_without_one_is_told_what_to_do() -> None:
    with pytest.raises(Unavailable) as caught:
        await Sources(Scripted(BUILT_IN), None).read(replace(QUERY, source=Source.PROMETHEUS))
    assert (caught.value.message, caught.value.hint) == (
        "the shift's source is Prometheus, and no Prometheus is configured",
        "set TIDEGATE_PROMETHEUS_URL for the controller",
    )


async def test_without_the_meshs_counters_there_is_no_reading() -> None:
    with pytest.raises(Unavailable, match="mesh is away"):
        await Sources(Scripted(Unavailable("mesh is away")), Scripted(OWN)).read(replace(QUERY, metrics=(MINE,)))


async def test_on_a_cluster_prometheus_counts_whatever_the_shift_says() -> None:
    kept = Scripted(OWN)
    for source in Source:
        await PrometheusAlone(kept).read(replace(QUERY, source=source))
    assert {each.source for each in kept.asked} == {Source.PROMETHEUS}
    with pytest.raises(Unavailable, match="no Prometheus is configured"):
        await PrometheusAlone(None).read(QUERY)
