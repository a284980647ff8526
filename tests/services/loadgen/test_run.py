"""The open loop: nothing that the server does moves the schedule, and everything that it keeps waiting is counted."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import repeat
from time import perf_counter

import pytest

from services.loadgen.client import TranslationClient
from services.loadgen.mix import Call
from services.loadgen.run import Limits, Run
from services.loadgen.schedule import Spacing, arrivals
from services.loadgen.tally import Outcome
from tests.support.mesh_wait import until
from tests.support.work_translator import TranslatorDouble, serving_translator

CALL = Call(language="en", source="en", target="es", text="Hello.", stream=False, hot=False)


def even(rate: float, duration_s: float | None):
    return arrivals(rate, duration_s=duration_s, spacing=Spacing.EVEN, seed=0)


@dataclass
class GatedClient:
    """Answers when its gate is open; notes when each call was meant to go out."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    intended: list[float] = field(default_factory=list)

    async def send(self, call: Call, *, intended_at: float) -> Outcome:
        self.intended.append(intended_at)
        await self.gate.wait()
        return Outcome("OK", perf_counter() - intended_at, datetime.now(UTC), "v1", 1)


async def test_a_server_that_stalls_for_a_second_shows_in_p99_though_only_two_requests_are_served_at_once() -> None:
    double = TranslatorDouble(workers=2)
    async with serving_translator(double) as address:
        client = TranslationClient(address, authority=None, channels=1, deadline_s=10)
        run = Run(client, Limits())
        sending = asyncio.create_task(run.send_all(even(100, 2.5), repeat(CALL), stop=asyncio.Event()))
        await until(lambda: run.total.done >= 50)
        double.gate.clear()
        asyncio.get_running_loop().call_later(1, double.gate.set)
        await sending
        await client.close()
    report = run.summary()
    assert double.most_waiting == 2
    assert report["statuses"] == {"OK": 250}
    assert report["p99Ms"] > 800, "only the two calls in flight were charged for the stall"
    assert report["p95Ms"] > 500
    assert report["p50Ms"] < 500


async def test_the_schedule_does_not_wait_for_answers() -> None:
    client = GatedClient()
    run = Run(client, Limits(drain_s=5))
    sending = asyncio.create_task(run.send_all(even(200, 0.5), repeat(CALL), stop=asyncio.Event()))
    await until(lambda: len(client.intended) == 100)
    assert run.tick()["inFlight"] == 100
    client.gate.set()
    await sending
    steps = [time_s - run.started_at for time_s in client.intended]
    assert steps == pytest.approx([number / 200 for number in range(100)])
    assert run.summary()["ok"] == 100


async def test_calls_over_the_bound_count_as_failed() -> None:
    client = GatedClient()
    run = Run(client, Limits(max_in_flight=10, drain_s=5))
    sending = asyncio.create_task(run.send_all(even(1_000, 0.05), repeat(CALL), stop=asyncio.Event()))
    await until(lambda: run.total.sent == 50)
    client.gate.set()
    await sending
    report = run.summary()
    assert report["statuses"] == {"NOT_SENT": 40, "OK": 10}
    assert report["failed"] == 40
    assert report["firstFailureAt"] is not None


async def test_a_stop_ends_the_sending_and_waits_for_open_calls() -> None:
    client, stop = GatedClient(), asyncio.Event()
    run = Run(client, Limits(drain_s=5))
    sending = asyncio.create_task(run.send_all(even(100, None), repeat(CALL), stop=stop))
    await until(lambda: len(client.intended) >= 5)
    stop.set()
    await until(lambda: run.sent_until > 0)
    sent = len(client.intended)
    client.gate.set()
    await asyncio.wait_for(sending, 5)
    assert run.summary()["ok"] == sent == len(client.intended)


async def test_calls_that_never_end_are_given_up_and_named() -> None:
    run = Run(GatedClient(), Limits(drain_s=0.05))
    await run.send_all(even(100, 0.05), repeat(CALL), stop=asyncio.Event())
    report = run.summary()
    assert (report["sent"], report["ok"], report["failed"], report["unfinished"]) == (5, 0, 0, 5)


async def test_a_tick_is_the_time_since_the_last_one() -> None:
    client = GatedClient()
    client.gate.set()
    run, ticks = Run(client, Limits()), []
    reporting = asyncio.create_task(run.report_every(0.1, ticks.append))
    await run.send_all(even(100, 0.35), repeat(CALL), stop=asyncio.Event())
    await until(lambda: len(ticks) >= 4)
    reporting.cancel()
    assert sum(tick["ok"] for tick in ticks) == 35
    assert ticks[-1]["total"] == {"sent": 35, "ok": 35, "failed": 0}
    assert all(tick["kind"] == "tick" for tick in ticks)
