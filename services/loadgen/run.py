"""How is a schedule of calls turned into load, and the load into reports?

Open loop: a request goes out at its time whether or not earlier ones have come back. Only `max_in_flight` bounds the
open calls; a request over the bound counts as failed (NOT_SENT), because a caller in its place would have been lost.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Protocol

from services.loadgen.mix import Call
from services.loadgen.tally import Latency, Outcome, Tally, added, timestamp

NOT_SENT = "NOT_SENT"
TIMER_STEP_S = 0.001  # asyncio rounds a sleep up to whole milliseconds: sleep short, send up to 1 ms early
BURST = 64

Report = Mapping[str, Any]


class Client(Protocol):
    """Whoever can make one call."""

    async def send(self, call: Call, *, intended_at: float) -> Outcome:
        """How the call ended. Units: `intended_at` is in perf_counter seconds, from which latency counts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_in_flight`: most open calls at once. `drain_s`: how long the last calls may take after the last sending."""

    max_in_flight: int = 10_000
    drain_s: float = 10.0


@dataclass(slots=True)
class Run:
    """One run of the load; all state that it has."""

    client: Client
    limits: Limits
    total: Tally = field(default_factory=Tally)
    interval: Tally = field(default_factory=Tally)
    send_lag: Latency = field(default_factory=Latency)
    unfinished: int = 0
    started_at: float = field(default_factory=perf_counter)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    sent_until: float = 0.0
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    async def send_all(self, arrivals: Iterator[float], calls: Iterator[Call], *, stop: asyncio.Event) -> None:
        """Send until the schedule ends or `stop` is set, then wait for the calls that are open."""
        pacer = asyncio.create_task(self._pace(arrivals, calls))
        stopper = asyncio.create_task(stop.wait())
        await asyncio.wait({pacer, stopper}, return_when=asyncio.FIRST_COMPLETED)
        self.sent_until = perf_counter()
        await _cancel(pacer, stopper)
        await self._drain()

    async def report_every(self, interval_s: float, print_report: Callable[[Report], None]) -> None:
        """Hand a tick to `print_report` each interval, at the interval's own times."""
        due = self.started_at
        while True:
            due += interval_s
            await asyncio.sleep(max(0.0, due - perf_counter()))
            print_report(self.tick())

    def tick(self) -> dict[str, Any]:
        """What happened since the last tick, with the totals so far."""
        interval, self.interval = self.interval, Tally()
        total = {"sent": self.total.sent, "ok": self.total.done - self.total.failed, "failed": self.total.failed}
        head = {"kind": "tick", "ts": timestamp(datetime.now(UTC)), "elapsedS": self._elapsed_s()}
        return {**head, "inFlight": len(self._open), **interval.to_json(), "total": total}

    def summary(self) -> dict[str, Any]:
        """The whole run. `sendLag` tells how late the generator itself was: when it is high, distrust the latencies."""
        sending_s = (self.sent_until or perf_counter()) - self.started_at
        return {
            "kind": "summary",
            "startedAt": timestamp(self.started),
            "endedAt": timestamp(datetime.now(UTC)),
            "durationS": round(sending_s, 3),
            "achievedRate": round(self.total.sent / max(sending_s, 1e-9), 2),
            **self.total.to_json(),
            "unfinished": self.unfinished,
            "firstSegment": self.total.stream_json(),
            "sendLag": self.send_lag.to_json(),
        }

    async def _pace(self, arrivals: Iterator[float], calls: Iterator[Call]) -> None:
        burst = 0
        for after_s, call in zip(arrivals, calls, strict=False):
            intended_at = self.started_at + after_s
            wait_s = intended_at - perf_counter() - TIMER_STEP_S
            burst = burst + 1 if wait_s <= 0 else 0
            if wait_s > 0 or burst % BURST == 0:
                await asyncio.sleep(max(0.0, wait_s))
            self._start(call, intended_at)

    def _start(self, call: Call, intended_at: float) -> None:
        self.total.send()
        self.interval.send()
        self.send_lag.add(perf_counter() - intended_at)
        if len(self._open) >= self.limits.max_in_flight:
            added((self.total, self.interval), Outcome(NOT_SENT, 0.0, datetime.now(UTC)))
            return
        task = asyncio.create_task(self._send(call, intended_at))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _send(self, call: Call, intended_at: float) -> None:
        outcome = await self.client.send(call, intended_at=intended_at)
        added((self.total, self.interval), outcome)

    async def _drain(self) -> None:
        if self._open:
            _, late = await asyncio.wait(set(self._open), timeout=self.limits.drain_s)
            self.unfinished = len(late)
            await _cancel(*late)

    def _elapsed_s(self) -> float:
        return round(perf_counter() - self.started_at, 3)


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
