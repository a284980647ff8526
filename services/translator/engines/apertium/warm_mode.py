"""When is a mode's pipeline opened, replaced and closed, and what happens to the texts of one that died?

Opened on first use, by one task that all callers await; replaced on the next use after a death; closed when nobody has
asked for a while. A text whose pipeline died is asked again *alone*, in a second pipeline that holds one text at a
time: so the one text that kills an engine fails by itself and never takes its neighbours with it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from services.translator.engines.apertium.pipeline import NotSentError, Pipeline, PipelineDiedError

ALONE_TRIES = 2
SHARED_TRIES = 4
DEATHS_IN_A_ROW = 8
BACK_OFF = timedelta(seconds=1)
IDLE = timedelta(minutes=10)

Open = Callable[[], Awaitable[Pipeline]]


class DeadlyTextError(Exception):
    """Every pipeline that got this text died of it."""


@dataclass(slots=True)
class Slot:
    """At most one live pipeline. `deaths` are those in a row without one answer."""

    open: Open
    idle: timedelta = IDLE
    live: Pipeline | None = None
    opening: asyncio.Task[Pipeline] | None = None
    deaths: int = 0
    blocked_until: float = 0.0
    asked: int = 0

    async def pipeline(self) -> Pipeline:
        """The live pipeline, opened if need be.

        Raises: OSError when it cannot be started or keeps dying.
        """
        if self.live is not None and not self.live.why_dead:
            return self.live
        if self.opening is None:
            self._check_deaths()
            self.opening = asyncio.create_task(self._opened())
        return await asyncio.shield(self.opening)

    async def ask(self, body: str) -> str:
        """The answer of the live pipeline.

        Raises: OSError, PipelineDiedError.
        """
        pipeline = await self.pipeline()
        self.asked += 1
        return await pipeline.ask(body)

    async def close(self) -> None:
        """Ends the pipeline and everything that waits for it."""
        if self.opening is not None:
            await asyncio.wait([self.opening])
        if self.live is not None:
            await self.live.close()

    async def _opened(self) -> Pipeline:
        try:
            self.live = await self.open()
        finally:
            self.opening = None
        asyncio.get_running_loop().call_later(self.idle.total_seconds(), self._close_idle, self.live, self.asked)
        return self.live

    def _check_deaths(self) -> None:
        now = asyncio.get_running_loop().time()
        if self.live is not None:
            self.deaths = 0 if self.live.answered else self.deaths + 1
        if self.deaths >= DEATHS_IN_A_ROW and self.blocked_until <= now:
            self.blocked_until, self.deaths = now + BACK_OFF.total_seconds(), 0
        if now < self.blocked_until:
            raise ChildProcessError("its pipeline died again and again without one answer")

    def _close_idle(self, pipeline: Pipeline, asked_before: int) -> None:
        if pipeline.why_dead:
            return
        if self.asked == asked_before and not pipeline.in_flight:
            pipeline.kill("it was idle")
            return
        asyncio.get_running_loop().call_later(self.idle.total_seconds(), self._close_idle, pipeline, self.asked)


@dataclass(slots=True)
class WarmMode:
    """One mode, ready for many texts at once."""

    open: Open
    idle: timedelta = IDLE
    shared: Slot = field(init=False)
    alone: Slot = field(init=False)
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.shared = Slot(self.open, self.idle)
        self.alone = Slot(self.open, self.idle)

    async def ask(self, body: str) -> str:
        """The mode's answer to `body`.

        Raises: OSError when the mode cannot be started, DeadlyTextError when it dies of this text.
        """
        for _ in range(SHARED_TRIES):
            try:
                return await self.shared.ask(body)
            except NotSentError:
                continue
            except PipelineDiedError:
                break
        return await self._ask_alone(body)

    async def _ask_alone(self, body: str) -> str:
        async with self._one:
            for _ in range(ALONE_TRIES):
                try:
                    return await self.alone.ask(body)
                except PipelineDiedError as error:
                    last = error
        raise DeadlyTextError(str(last))

    async def close(self) -> None:
        """Ends both pipelines."""
        await asyncio.gather(self.shared.close(), self.alone.close())
