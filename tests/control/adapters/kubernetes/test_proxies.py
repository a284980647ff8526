"""Which proxies hold a route and run its weights, where istiods answer late, old, or not at all."""

import asyncio
from fractions import Fraction
from typing import Any

import pytest

from control.adapters.kubernetes import proxies as module
from control.adapters.kubernetes.proxies import SAMPLE, ClusterProxies, rescaled
from control.adapters.kubernetes.routes import held, view
from control.errors import Unavailable
from mesh.istio.weights import WeightPatch, weight_patch
from mesh.traffic import RouteRef, TrafficSplit
from tests.control.adapters.kubernetes.test_routes import item
from tests.control.adapters.kubernetes.test_syncz import UUID, dump, weighted

REF = RouteRef("shop", "cart", "primary")


class Cluster:
    """A VirtualService, and what an istiod says of the proxies: versions sent and acknowledged, and weights."""

    def __init__(self, *weights: int) -> None:
        self.document = item(*weights)
        self.nonces: dict[str, tuple[str, str]] = {}
        self.weights: dict[str, dict[str, int] | None] = {}
        self.applied: list[WeightPatch] = []
        self.dumped: list[str] = []
        self.error: Unavailable | None = None
        self.broken: Unavailable | None = None
        self.version = ""

    def says(self, proxy: str, sent: str, acked: str, **weights: int) -> None:
        self.nonces[proxy], self.weights[proxy] = (sent, acked), weights

    async def route(self, ref: RouteRef) -> Any:
        return view(held(self.document), ref)

    async def apply(self, patch: WeightPatch) -> None:
        self.applied.append(patch)

    def forget(self) -> None:
        return None

    async def replicas(self) -> tuple[str, ...]:
        return ("http://istiod",)

    async def syncz(self, _replica: str) -> list[Any]:
        if self.error:
            raise self.error
        return [
            {"proxy": name, "route_sent": sent + UUID, "route_acked": acked + UUID}
            for name, (sent, acked) in self.nonces.items()
        ]

    async def config_dump(self, _replica: str, proxy: str) -> Any:
        self.dumped.append(proxy)
        if self.broken:
            raise self.broken
        weights = self.weights[proxy]
        if weights is None:
            return None
        found = dump(weighted(**weights)) if weights else {"configs": []}
        for config in found["configs"]:
            config["dynamicRouteConfigs"][0]["versionInfo"] = self.version or self.nonces[proxy][1]
        return found


def asked(cluster: Cluster) -> ClusterProxies:
    return ClusterProxies(cluster, cluster)  # type: ignore[arg-type]


async def answer(proxies: ClusterProxies) -> tuple[set[str], set[str]]:
    found = await proxies.acknowledgement(REF, "7")
    return set(found.holders), set(found.acknowledged)


async def test_agreement_on_the_former_configuration_is_none() -> None:
    cluster = Cluster(90, 10)
    cluster.says("a", "v/1", "v/1", v1=90, v2=10)
    proxies = asked(cluster)
    await proxies.before_write(REF)
    assert await answer(proxies) == ({"a"}, set())
    cluster.says("a", "v/2", "v/1", v1=90, v2=10)
    assert await answer(proxies) == ({"a"}, set())
    cluster.says("a", "v/2", "v/2", v1=90, v2=10)
    assert await answer(proxies) == ({"a"}, {"a"})


async def test_pushes_without_end_keep_nobody_from_being_seen_to_run_it() -> None:
    """Somebody writes annotations all the time: what was acknowledged is always a push behind what was sent."""
    cluster = Cluster(90, 10)
    cluster.says("a", "v/2", "v/2", v1=100)
    proxies = asked(cluster)
    await proxies.before_write(REF)
    for sent, acked in ((4, 3), (6, 5), (8, 6)):
        cluster.says("a", f"v/{sent}", f"v/{acked}", v1=90, v2=10)
        cluster.version = f"v/{sent}"
        assert await answer(proxies) == ({"a"}, set()), "nothing was acknowledged that was surely sent with the weights"
    cluster.says("a", "v/10", "v/9", v1=90, v2=10)
    assert await answer(proxies) == ({"a"}, {"a"})


async def test_who_holds_no_route_of_it_is_not_waited_for() -> None:
    cluster = Cluster(90, 10)
    cluster.says("a", "v/2", "v/2", v1=90, v2=10)
    cluster.says("b", "v/1", "v/1")
    assert await answer(asked(cluster)) == ({"a"}, {"a"})


async def test_what_was_seen_once_is_not_dumped_again() -> None:
    cluster = Cluster(90, 10)
    cluster.says("a", "v/2", "v/2", v1=90, v2=10)
    proxies = asked(cluster)
    await answer(proxies)
    await answer(proxies)
    assert cluster.dumped == ["a"]


async def test_a_proxy_that_left_holds_nothing() -> None:
    cluster = Cluster(90, 10)
    cluster.says("a", "v/2", "v/2", v1=90, v2=10)
    proxies = asked(cluster)
    await answer(proxies)
    cluster.nonces.clear()
    assert await answer(proxies) == (set(), set())


async def test_a_proxy_without_a_dump_has_acknowledged_nothing() -> None:
    cluster = Cluster(90, 10)
    cluster.nonces["a"], cluster.weights["a"] = ("v/2", "v/2"), None
    assert await answer(asked(cluster)) == (set(), set())


async def test_an_istiod_that_does_not_answer_makes_it_unknown() -> None:
    cluster = Cluster(90, 10)
    cluster.error = Unavailable("away")
    with pytest.raises(Unavailable):
        await answer(asked(cluster))


async def test_another_revision_is_told() -> None:
    assert not (await asked(Cluster(90, 10)).acknowledgement(REF, "6")).current


async def test_of_a_large_mesh_a_sample_is_dumped_and_the_rest_is_believed() -> None:
    cluster = Cluster(90, 10)
    names = [f"p{number}" for number in range(SAMPLE * 3)]
    for name in names:
        cluster.says(name, "v/1", "v/1", v1=100)
    proxies = asked(cluster)
    await proxies.before_write(REF)
    for name in names:
        cluster.says(name, "v/2", "v/2", v1=90, v2=10)
    assert await answer(proxies) == (set(names), set(names))
    assert len(cluster.dumped) == SAMPLE


async def test_old_weights_of_a_new_push_are_written_again_in_another_scale_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "STALE_FOR_S", 0.0)
    cluster = Cluster(90, 10)
    cluster.says("a", "v/1", "v/1", v1=100)
    proxies = asked(cluster)
    await proxies.before_write(REF)
    await answer(proxies)
    assert cluster.applied == []
    cluster.says("a", "v/2", "v/2", v1=100)
    assert await answer(proxies) == ({"a"}, set())
    await answer(proxies)
    assert [each.weights for each in cluster.applied] == [(900, 100)]


@pytest.mark.parametrize(
    ("weights", "scaled"),
    [((90, 10), (900, 100)), ((900, 100), (90, 10)), ((100, 0), (1000, 0)), ((95, 5, 20), (950, 50, 200))],
)
def test_another_scale_is_the_same_split(weights: tuple[int, ...], scaled: tuple[int, ...]) -> None:
    patch = rescaled(view(held(item(*weights)), REF))
    assert patch is not None
    assert (patch.weights, patch.raises) == (scaled, False)
    after = view(held(item(*scaled)), REF)
    share = Fraction(weights[1], weights[0] + weights[1])
    assert weight_patch(after, TrafficSplit("cart", "v1", "v2", share)) is None


def test_a_single_destination_has_no_scale() -> None:
    assert rescaled(view(held(item(100)), REF)) is None


async def test_many_shifts_share_one_dump_of_what_is_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DUMP_FRESH_S", 0.0)
    cluster = Cluster(90, 10)
    cluster.says("a", "v/2", "v/2", v1=100)
    cluster.says("b", "v/2", "v/2")
    proxies = asked(cluster)
    for _ in range(3):
        await answer(proxies)
    assert sorted(cluster.dumped) == ["a", "b", "b", "b"]
    cluster.says("a", "v/3", "v/2", v1=100)
    await answer(proxies)
    await answer(proxies)
    assert cluster.dumped.count("a") == 3


async def test_a_dump_under_way_or_of_this_moment_serves_all_that_ask() -> None:
    cluster = Cluster(90, 10)
    cluster.says("a", "v/3", "v/2", v1=100)
    proxies = asked(cluster)
    await asyncio.gather(*(answer(proxies) for _ in range(5)))
    assert cluster.dumped == ["a"]


async def test_a_dump_that_failed_is_asked_for_again() -> None:
    cluster = Cluster(90, 10)
    cluster.says("a", "v/2", "v/2", v1=90, v2=10)
    proxies = asked(cluster)
    cluster.broken = Unavailable("reset")
    with pytest.raises(Unavailable):
        await answer(proxies)
    cluster.broken = None
    assert await answer(proxies) == ({"a"}, {"a"})
