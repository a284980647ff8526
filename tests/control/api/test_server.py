"""The controller's API over real gRPC: what it does, what it refuses, and how errors come back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.rpc import status_pb2
from grpc_status import rpc_status
from tidegate.control.v1 import control_pb2, control_pb2_grpc

from control.api.client import GrpcShiftClient, ShiftClient
from control.api.server import ControlServer
from control.api.statuses import CODES, error_of, status_of
from control.engine.command import Command, Verb
from control.engine.state import ShiftState
from control.errors import NotFound, Refused, SpecError, StartFailed, TidegateError, Unavailable
from control.loop.troubles import Trouble
from tests.support.control_api import SHIFT, TOKEN, Api, client, serving_api
from tests.support.control_time import NOON

KEY = ("default", "translator")
PAUSE = Command(id="c1", verb=Verb.PAUSE, actor="ann", at=NOON, reason="lunch")


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with serving_api(tmp_path) as running:
        yield running


@pytest.fixture
async def tool(api: Api) -> AsyncIterator[GrpcShiftClient]:
    async with client(api) as connected:
        yield connected


async def test_the_client_keeps_the_protocol_of_all_clients(tool: GrpcShiftClient) -> None:
    seam: ShiftClient = tool
    assert await seam.version() == "1.2.3"


async def test_an_applied_shift_comes_back_with_its_status_and_wakes_the_loop(api: Api, tool: GrpcShiftClient) -> None:
    result = await tool.apply(SHIFT, "shift.yaml")
    shift = await tool.get(*KEY)
    assert (result.outcome, result.shift) == ("created", shift)
    assert shift.document["kind"] == "TrafficShift"
    assert (shift.spec["canary"], shift.status["phase"]) == ("v2", "Pending")
    assert await tool.list() == await tool.list("default") == [shift]
    assert await tool.list("elsewhere") == []
    assert api.loop.woken == [KEY]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        pytest.param(SHIFT, "unchanged", id="the same text"),
        pytest.param(SHIFT + b"# a comment\n", "unchanged", id="the same values"),
        pytest.param(SHIFT.replace(b"20%", b"30%"), "changed", id="another step"),
    ],
)
async def test_applying_again(api: Api, tool: GrpcShiftClient, text: bytes, outcome: str) -> None:
    first = await tool.apply(SHIFT, "shift.yaml")
    second = await tool.apply(text, "shift.yaml")
    assert second.outcome == outcome
    assert (second.shift.revision > first.shift.revision) is (outcome == "changed")
    assert len(api.loop.woken) == (2 if outcome == "changed" else 1)


async def test_an_edited_spec_keeps_the_state(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    before = await api.store.load(*KEY)
    await tool.apply(SHIFT.replace(b"20%", b"30%"), "shift.yaml")
    after = await api.store.load(*KEY)
    assert before is not None
    assert after is not None
    assert after.state == before.state
    assert after.spec != before.spec


async def test_three_mistakes_come_back_together_with_their_places(tool: GrpcShiftClient) -> None:
    text = SHIFT.replace(b"stable: v1", b"stabel: v1").replace(b"20%", b"120%").replace(b"canary: v2", b"canary: 7")
    with pytest.raises(SpecError) as caught:
        await tool.apply(text, "my shift: one.yaml")
    problems = caught.value.problems
    assert len(problems) >= 3
    assert {each.source for each in problems} == {"my shift: one.yaml"}
    assert {each.line for each in problems} >= {8, 9, 10}
    assert any(each.hint for each in problems)


async def test_two_shifts_on_one_route_are_one_too_many(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "one.yaml")
    with pytest.raises(Refused, match="moved by default/translator already"):
        await tool.apply(SHIFT.replace(b"{name: translator,", b"{name: second,"), "two.yaml")
    assert len(await api.store.list()) == 1


async def test_of_two_applies_at_once_for_one_route_one_is_refused(api: Api, tool: GrpcShiftClient) -> None:
    texts = [SHIFT.replace(b"{name: translator,", f"{{name: s{n},".encode()) for n in range(5)]
    results = await asyncio.gather(*(tool.apply(text, "x") for text in texts), return_exceptions=True)
    assert sum(isinstance(each, Refused) for each in results) == 4
    assert len(await api.store.list()) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [(300_000, "has more than 262,144 bytes"), (10_000_000, "larger than max")],
    ids=["0.3 MB", "10 MB"],
)
async def test_a_text_that_is_too_long(tool: GrpcShiftClient, more: int, said: str) -> None:
    with pytest.raises(Refused, match=said):
        await tool.apply(SHIFT + b"#" * more, "long.yaml")


async def test_a_command_acts_once_however_often_it_is_sent(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    first = await tool.command(*KEY, PAUSE)
    again = await tool.command(*KEY, PAUSE)
    assert first.shift.status["phase"] == again.shift.status["phase"] == "Paused"
    assert first.shift.revision == again.shift.revision
    assert first.outcome != again.outcome
    assert api.loop.woken == [KEY, KEY]


async def test_commands_at_once_are_taken_one_after_the_other(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    commands = [replace(PAUSE, id=f"c{n}") for n in range(5)]
    results = await asyncio.gather(*(tool.command(*KEY, each) for each in commands))
    outcomes = [each.outcome for each in results]
    assert sorted(outcomes)[:4] == ["already paused"] * 4, outcomes
    assert sum(outcome.startswith("paused") for outcome in outcomes) == 1, outcomes


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param(replace(PAUSE, verb=Verb.RETRY), "it can't retry", id="a verb that does not fit the phase"),
        pytest.param(replace(PAUSE, expect_step=3), "at step 0, not 3", id="another step than expected"),
    ],
)
async def test_commands_that_do_not_fit_are_refused_with_what_to_do(
    tool: GrpcShiftClient, command: Command, message: str
) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    with pytest.raises(Refused, match=message) as caught:
        await tool.command(*KEY, command)
    assert caught.value.hint


async def test_a_verb_of_a_newer_tool(api: Api) -> None:
    async with grpc.aio.insecure_channel(api.address) as channel:
        stub = control_pb2_grpc.ControlServiceStub(channel)
        request = control_pb2.SendCommandRequest(name=control_pb2.ShiftName(namespace="default", name="x"), verb=99)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.SendCommand(request, metadata=[("authorization", f"Bearer {TOKEN}")])
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "verb 99" in (caught.value.details() or "")


async def test_deletion_is_marked_and_left_to_the_loop(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    first = await tool.delete(*KEY)
    assert first == await tool.delete(*KEY)
    assert "then the shift is deleted" in first
    stored = await api.store.load(*KEY)
    assert stored is not None
    assert ShiftState.from_json(stored.state).deleting
    for text in (SHIFT, SHIFT.replace(b"20%", b"30%")):
        with pytest.raises(Refused, match="is being deleted"):
            await tool.apply(text, "shift.yaml")


DRY: dict[str, Callable[[GrpcShiftClient], Awaitable[object]]] = {
    "apply": lambda tool: tool.apply(SHIFT.replace(b"20%", b"30%"), "x", dry_run=True),
    "apply of a new one": lambda tool: tool.apply(SHIFT.replace(b"translator", b"other"), "x", dry_run=True),
    "command": lambda tool: tool.command(*KEY, PAUSE, dry_run=True),
    "delete": lambda tool: tool.delete(*KEY, dry_run=True),
}


@pytest.mark.parametrize("operation", DRY)
async def test_a_dry_run_answers_and_changes_nothing(api: Api, tool: GrpcShiftClient, operation: str) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    before, woken = await api.store.list(), len(api.loop.woken)
    assert await DRY[operation](tool)
    assert (await api.store.list(), len(api.loop.woken)) == (before, woken)


async def test_a_dry_run_says_what_would_be_and_a_command_what_is_decided(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    rollback = Command("r", Verb.ROLLBACK, "ada", NOON, None, "")
    said = "all traffic goes back to v1 (asked for by ada)"
    assert (await tool.command(*KEY, rollback, dry_run=True)).outcome == f"would: {said}"
    assert (await tool.command(*KEY, rollback)).outcome == said
    again = replace(rollback, id="again")
    before = await api.store.list()
    for dry_run in (True, False):
        assert (await tool.command(*KEY, again, dry_run=dry_run)).outcome.startswith("already going back")
    assert await api.store.list() == before
    assert (await tool.delete(*KEY, dry_run=True)).startswith("would: ")


MISSING: dict[str, Callable[[GrpcShiftClient], Awaitable[object]]] = {
    "get": lambda tool: tool.get("default", "none"),
    "delete": lambda tool: tool.delete("default", "none"),
    "command": lambda tool: tool.command("default", "none", PAUSE),
    "history": lambda tool: tool.history("default", "none"),
    "watch": lambda tool: anext(aiter(tool.watch("default", "none"))),
}


@pytest.mark.parametrize("operation", MISSING)
async def test_a_shift_that_does_not_exist_is_answered_with_those_that_do(
    tool: GrpcShiftClient, operation: str
) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    with pytest.raises(NotFound) as caught:
        await MISSING[operation](tool)
    assert "default/translator" in caught.value.hint


async def test_history_is_the_journal(api: Api, tool: GrpcShiftClient) -> None:
    await api.store.record(*KEY, [{"n": n, "sentence": "ümlaut"} for n in range(3)])
    assert [each["n"] for each in await tool.history(*KEY)] == [0, 1, 2]
    assert [each["n"] for each in await tool.history(*KEY, limit=1)] == [2]


async def test_history_tells_what_the_status_tells_though_the_journal_does_not_have_it_yet(
    api: Api, tool: GrpcShiftClient
) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    await tool.command(*KEY, PAUSE)
    waiting = [each["sentence"] for each in await tool.history(*KEY)]
    assert any("paused" in each for each in waiting)
    stored = await api.store.load(*KEY)
    assert stored is not None
    await api.store.record(*KEY, stored.state["outbox"])
    assert [each["sentence"] for each in await tool.history(*KEY)] == waiting, "no entry is told twice"
    assert [each["sentence"] for each in await tool.history(*KEY, limit=1)] == waiting[-1:]


async def test_a_watch_sends_what_is_and_then_each_change(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    async with asyncio.timeout(60):
        changes = aiter(tool.watch(*KEY))
        now = await anext(changes)
        await tool.command(*KEY, PAUSE)
        paused = await anext(changes)
        stored = await api.store.load(*KEY)
        assert stored is not None
        await api.store.delete(*KEY, expect=stored.version)
        gone = await anext(changes)
    assert [each.shift.status["phase"] for each in (now, paused)] == ["Pending", "Paused"]
    assert (gone.deleted, gone.shift) == (True, paused.shift)


async def test_a_watch_of_all_hears_of_new_shifts_of_its_namespace_only(tool: GrpcShiftClient) -> None:
    async with asyncio.timeout(60):
        everything, elsewhere = aiter(tool.watch()), aiter(tool.watch("elsewhere"))
        first = [asyncio.ensure_future(anext(each)) for each in (everything, elsewhere)]
        await tool.apply(SHIFT, "shift.yaml")
        assert (await first[0]).shift.name == "translator"
        await tool.apply(SHIFT.replace(b"namespace: default", b"namespace: elsewhere"), "shift.yaml")
        assert (await first[1]).shift.namespace == "elsewhere"


async def test_a_watch_ends_when_the_controller_stops(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    async with asyncio.timeout(60):
        changes = aiter(tool.watch())
        await anext(changes)
        await api.server.stop(0)
        with pytest.raises(Unavailable):
            await anext(changes)


async def test_a_watcher_that_hangs_up_is_forgotten(api: Api, tool: GrpcShiftClient) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    changes = tool.watch(*KEY)
    await anext(changes)
    assert api.feed.watchers == 1
    await changes.aclose()
    async with asyncio.timeout(60):
        while api.feed.watchers:
            await tool.version()


@pytest.mark.parametrize("token", ["wrong", "", TOKEN + "x"])
@pytest.mark.parametrize("operation", ["get", "watch"])
async def test_who_shows_no_valid_token_gets_nothing(api: Api, token: str, operation: str) -> None:
    async with client(api, token) as stranger:
        with pytest.raises(Refused, match="token"):
            await MISSING[operation](stranger)


async def test_nobody_there_is_unavailable() -> None:
    async with GrpcShiftClient("127.0.0.1:1", TOKEN, timeout_s=5) as alone:
        with pytest.raises(Unavailable, match="no controller answers"):
            await alone.list()


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "10.1.2.3:0"])
async def test_a_network_address_is_refused_before_anything_listens(api: Api, listen: str) -> None:
    with pytest.raises(Refused, match="not made for a network"):
        ControlServer(api.shifts, listen=listen, token=TOKEN, version="")


async def test_a_port_that_is_taken(api: Api) -> None:
    second = ControlServer(api.shifts, listen=api.address, token=TOKEN, version="")
    with pytest.raises(StartFailed, match=api.address):
        await second.start()


@pytest.mark.parametrize(
    ("trouble", "phase", "condition"),
    [
        pytest.param(Trouble("unavailable", "no mesh", "", NOON, 3), "Pending", "Unavailable", id="waiting"),
        pytest.param(Trouble("rejected", "bad", "", NOON, 3), "Pending", "Blocked", id="blocked"),
        pytest.param(Trouble("invariant", "a bug", "call", NOON, 1, frozen=True), "Failed", "Frozen", id="frozen"),
    ],
)
async def test_what_looks_run_into_is_shown(
    api: Api, tool: GrpcShiftClient, trouble: Trouble, phase: str, condition: str
) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    api.loop.troubles[KEY] = replace(trouble, since=NOON - timedelta(minutes=1))
    status = (await tool.get(*KEY)).status
    assert status["phase"] == phase
    assert (status["conditions"][-1]["type"], status["conditions"][-1]["since"]) == (condition, "2026-11-30T11:59:00Z")
    assert trouble.message in f"{status['waitingFor']} {status['reason']}"


async def test_a_state_that_cannot_be_read_is_shown_as_failed_and_can_be_deleted(
    api: Api, tool: GrpcShiftClient
) -> None:
    await tool.apply(SHIFT, "shift.yaml")
    stored = await api.store.load(*KEY)
    assert stored is not None
    await api.store.save(*KEY, spec=stored.spec, state={"schema": 999}, expect=stored.version)
    assert (await tool.get(*KEY)).status["phase"] == "Failed"
    for dry_run in (True, False):
        assert "the traffic stays as it is" in await tool.delete(*KEY, dry_run=dry_run)
        assert bool(await tool.list()) is dry_run
    assert (await tool.apply(SHIFT, "shift.yaml")).outcome == "created"


async def test_errors_of_ours_come_back_as_themselves() -> None:
    for kind in CODES:
        if kind is not SpecError:
            assert isinstance(error_of(_call(status_of(kind("words", hint="a hint")))), kind)


def _call(status: status_pb2.Status) -> grpc.aio.AioRpcError:
    wire = rpc_status.to_status(status)
    trailing = grpc.aio.Metadata(*wire.trailing_metadata)
    return grpc.aio.AioRpcError(wire.code, grpc.aio.Metadata(), trailing, details=wire.details)


@pytest.mark.parametrize("code", list(grpc.StatusCode), ids=lambda code: code.name)
def test_a_status_without_details_is_an_error_of_ours_too(code: grpc.StatusCode) -> None:
    error = error_of(grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details="words"))
    assert isinstance(error, TidegateError)
