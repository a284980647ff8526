"""How do the faults of `faults` happen to real calls and to the process?

`Saboteur` draws for each call; `ProcessFaults` closes the port or ends the process. Both exist only in a process that
was started with faults allowed; elsewhere a request that asks for one is refused.
"""

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

import grpc

from services.runtime.call import FAULT_HEADER, Call
from services.runtime.errors import CallError
from services.runtime.faults import CallFault, Crash, Delay, Fail, Fault, FaultError, Refuse, When, parse_call_faults


class HeaderSender(Protocol):
    """The part of a gRPC context that sends response headers early."""

    async def send_initial_metadata(self, initial_metadata: tuple[tuple[str, str], ...]) -> None:
        """Sends response headers now."""


def die() -> None:
    """Ends this process at once, as a crash would: nothing is closed, nothing is written."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class Saboteur:
    """Draws the faults of each call. `counted` is told the kind of each one that happened.

    Units: `clock` is seconds that never step back.
    """

    allowed: bool
    faults: Sequence[Fault] = ()
    draw: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311
    counted: Callable[[str], None] = lambda _kind: None
    crash: Callable[[], None] = die
    clock: Callable[[], float] = time.monotonic
    _requests: int = 0
    _first_call_at: float | None = None

    async def before_call(self, call: Call, asked: str, context: HeaderSender) -> None:
        """Delays, fails or kills, as the process's faults and this request's metadata say.

        Raises: CallError, the failure that was asked for, or the refusal of a fault that is not allowed.
        """
        requested = self._requested(asked)
        if not self.allowed:
            return
        self._count_to_crash()
        if self._first_call_at is None:
            self._first_call_at = self.clock()
        for fault in (*self.faults, *requested):
            await self._happen(fault, call, context)

    def _requested(self, asked: str) -> list[CallFault]:
        if not asked:
            return []
        if not self.allowed:
            raise CallError(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"{FAULT_HEADER} is refused: this process was started without --allow-faults",
                reason="FAULTS_NOT_ALLOWED",
            )
        try:
            return parse_call_faults(asked)
        except FaultError as error:
            raise CallError(grpc.StatusCode.INVALID_ARGUMENT, str(error), reason="BAD_FAULT") from error

    def _count_to_crash(self) -> None:
        self._requests += 1
        limits = [fault.requests for fault in self.faults if isinstance(fault, Crash) and fault.requests]
        if limits and self._requests >= min(limits):
            self.crash()

    async def _happen(self, fault: Fault, call: Call, context: HeaderSender) -> None:
        match fault:
            case Delay() if self._lasts(fault.lasts) and self._drawn(fault.share):
                self.counted("delay")
                await asyncio.sleep(fault.delay.total_seconds())
            case Fail() if self._concerns(fault, call) and self._drawn(fault.share):
                self.counted("fail")
                await self._fail(fault, call, context)
            case _:
                return

    def _concerns(self, fault: Fail, call: Call) -> bool:
        return self._lasts(fault.lasts) and (fault.first is None or call.attempt <= fault.first)

    def _lasts(self, span: timedelta | None) -> bool:
        if span is None or self._first_call_at is None:
            return True
        return self.clock() - self._first_call_at < span.total_seconds()

    def _drawn(self, share: float) -> bool:
        return share >= 1 or self.draw() < share

    async def _fail(self, fault: Fail, call: Call, context: HeaderSender) -> None:
        if fault.when is When.AFTER_HEADERS:
            await context.send_initial_metadata(())
        raise CallError(
            fault.status,
            f"fault injected on purpose ({fault.when}, attempt {call.attempt})",
            reason="FAULT_INJECTED",
        )


async def run_process_faults(
    faults: Sequence[Fault], close_port: Callable[[], Awaitable[None]], crash: Callable[[], None] = die
) -> None:
    """Closes the port and ends the process at their times; returns when nothing more is due."""
    async with asyncio.TaskGroup() as due:
        for fault in faults:
            match fault:
                case Refuse():
                    due.create_task(_later(fault.after.total_seconds(), close_port))
                case Crash(after=after) if after is not None:
                    due.create_task(_later(after.total_seconds(), crash))
                case _:
                    pass


async def _later(delay_s: float, action: Callable[[], Awaitable[None] | None]) -> None:
    await asyncio.sleep(delay_s)
    outcome = action()
    if outcome is not None:
        await outcome
