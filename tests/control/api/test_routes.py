"""Apply asks the mesh: whatever a text names there and is not there comes back with the text's own mistakes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from control.api.client import GrpcShiftClient
from control.errors import SpecError
from tests.support.control_api import SHIFT, Api, client, serving_api
from tests.support.fake_ports import virtual_service

TWO_ROUTES = virtual_service("edge", "front") + virtual_service("edge", "back").partition(b"  http:\n")[2]
FOREIGN = {"v1": 1, "v2": 0, "other": 99}
LINES = """add to its route list in mesh.yaml:9:
- destination:
    host: translator.default.svc.cluster.local
    subset: v3
  weight: 0"""


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with serving_api(tmp_path) as running:
        running.world.texts["default", "edge"] = TWO_ROUTES
        yield running


@pytest.fixture
async def tool(api: Api) -> AsyncIterator[GrpcShiftClient]:
    async with client(api) as connected:
        yield connected


def routes(*texts: str) -> bytes:
    return SHIFT.replace(b"{virtualService: translator, route: primary}", ", ".join(texts).encode())


REFUSED = {
    "an unknown VirtualService: those that exist": (
        routes("{virtualService: translater}"),
        ["x:7:14: spec.target.routes[1]: there is no VirtualService default/translater"],
        ["there are: default/edge, default/other, default/translator, elsewhere/translator"],
    ),
    "an unknown route: those that exist": (
        routes("{virtualService: translator, route: primary}", "{virtualService: edge, route: side}"),
        ["x:7:60: spec.target.routes[2]: VirtualService default/edge, route side doesn't exist"],
        ["its routes: front, back"],
    ),
    "several routes and no name": (
        routes("{virtualService: edge}"),
        ["x:7:14: spec.target.routes[1]: VirtualService default/edge has 2 routes, and none is named"],
        ["its routes: front, back"],
    ),
    "a canary that is no destination: the lines to add": (
        SHIFT.replace(b"canary: v2", b"canary: v3"),
        [
            "x:9:11: spec.canary: VirtualService default/translator, route primary has no destination "
            "translator.default.svc.cluster.local v3"
        ],
        [LINES],
    ),
    "a stable that is no destination": (
        SHIFT.replace(b"stable: v1", b"stable: v3"),
        [
            "x:8:11: spec.stable: VirtualService default/translator, route primary has no destination "
            "translator.default.svc.cluster.local v3"
        ],
        [LINES.replace("weight: 0", "weight: 100")],
    ),
    "a host that the route does not lead to": (
        SHIFT.replace(b"host: translator", b"host: translate"),
        [
            "x:7:14: spec.target.routes[1]: VirtualService default/translator, route primary has no destination "
            "translate.default.svc.cluster.local v1 and no v2"
        ],
        None,
    ),
    "mistakes of the text and of what it names, in the order of the text": (
        routes("{virtualService: translator}", "{virtualService: edge, route: side}", "{virtualService: 7}")
        .replace(b"canary: v2", b"canary: v3")
        .replace(b"20%", b"120%"),
        [
            "x:7:44: spec.target.routes[2]: VirtualService default/edge, route side doesn't exist",
            "x:7:98: spec.target.routes[3].virtualService: 7 is not a host",
            "x:9:11: spec.canary: VirtualService default/translator has no destination",
            "x:10:39: spec.strategy.steps[2]: 120% is more than 100%",
        ],
        None,
    ),
}


@pytest.mark.parametrize("dry_run", [False, True], ids=["apply", "dry run"])
@pytest.mark.parametrize(("text", "problems", "hints"), REFUSED.values(), ids=REFUSED.keys())
async def test_what_the_mesh_does_not_have_is_refused(
    api: Api, tool: GrpcShiftClient, text: bytes, problems: list[str], hints: list[str] | None, dry_run: bool
) -> None:
    with pytest.raises(SpecError) as caught:
        await tool.apply(text, "x", dry_run=dry_run)
    found = caught.value.problems
    assert len(found) == len(problems), found
    for problem, expected in zip(found, problems, strict=True):
        assert str(problem).startswith(expected)
    assert hints is None or [each.hint for each in found] == hints
    assert await api.store.list() == []
    assert api.loop.woken == []


async def test_steps_that_the_weights_cannot_hold_are_refused(api: Api, tool: GrpcShiftClient) -> None:
    api.world.texts["default", "translator"] = virtual_service("translator", "primary", weights=FOREIGN)
    with pytest.raises(SpecError, match="a canary share of 1/100 can't be written with it"):
        await tool.apply(SHIFT, "x")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SHIFT, id="as it is"),
        pytest.param(SHIFT.replace(b", route: primary", b""), id="the only route needs no name"),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True], ids=["apply", "dry run"])
async def test_what_the_mesh_has_is_accepted(tool: GrpcShiftClient, text: bytes, dry_run: bool) -> None:
    assert (await tool.apply(text, "x", dry_run=dry_run)).outcome == "created"


@pytest.mark.parametrize("dry_run", [False, True], ids=["apply", "dry run"])
async def test_a_mesh_that_does_not_answer_is_asked_later(api: Api, tool: GrpcShiftClient, dry_run: bool) -> None:
    api.world.unreachable = frozenset({"translator"})
    result = await tool.apply(SHIFT, "x", dry_run=dry_run)
    assert result.outcome == "created; the mesh does not answer now, so its routes are checked when it does"


async def test_mistakes_of_the_text_need_no_mesh(api: Api, tool: GrpcShiftClient) -> None:
    api.world.unreachable = frozenset({"translator"})
    with pytest.raises(SpecError, match="is more than 100%"):
        await tool.apply(SHIFT.replace(b"20%", b"120%"), "x")


WATCHING = {
    "all that is watched by default": b"",
    "latency and attempts": b"  metrics: [{name: latency}, {name: attempts}]\n",
}


@pytest.mark.parametrize("metrics", WATCHING.values(), ids=WATCHING.keys())
async def test_versions_that_are_called_differently_may_shift_under_watch(
    api: Api, tool: GrpcShiftClient, metrics: bytes
) -> None:
    api.world.differing = ("timeout (v1: no limit, v2: 5s)",)
    assert (await tool.apply(SHIFT + metrics, "x")).outcome == "created"


@pytest.mark.parametrize("dry_run", [False, True], ids=["apply", "dry run"])
async def test_versions_that_are_called_differently_must_be_watched(
    api: Api, tool: GrpcShiftClient, dry_run: bool
) -> None:
    text = SHIFT + b"  metrics: [{name: outcomes}, {name: latency}]\n"
    assert (await tool.apply(text, "x", dry_run=True)).outcome == "created"
    api.world.differing = ("timeout (v1: no limit, v2: 5s)", "retryBudget (v1: none, v2: 10 %, at least 3)")
    with pytest.raises(SpecError) as caught:
        await tool.apply(text, "x", dry_run=dry_run)
    (found,) = caught.value.problems
    assert "timeout (v1: no limit, v2: 5s) and retryBudget" in found.message
    assert "attempts is not watched" in found.message
    assert await api.store.list() == []
