"""What is done after the answer, without delaying it?

Work that belongs to no call any more: it runs outside of the call's context (its deadline is over), and when too much
of it waits the newest is dropped, since a cache that is slow must not fill this process's memory.
"""

import asyncio
import contextvars
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

AT_MOST = 256
LAST_WORDS_S = 1.0


@dataclass(slots=True)
class Afterwards:
    """A bounded set of running afterthoughts."""

    running: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, None]) -> bool:
        """Runs the work on its own. False: too much is running, and it was dropped."""
        if len(self.running) >= AT_MOST:
            work.close()
            return False
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return True

    async def close(self) -> None:
        """Gives what runs a last moment, then ends it."""
        if self.running:
            _, late = await asyncio.wait(self.running, timeout=LAST_WORDS_S)
            for task in late:
                task.cancel()
