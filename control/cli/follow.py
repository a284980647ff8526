"""How does a shift go on? A stream of its views: each change, and between changes one a second so that times run."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from control.api.model import ShiftChange, ShiftDocument
from control.errors import NotFound
from control.view.model import ShiftView
from control.view.shift import shift_view

if TYPE_CHECKING:
    from control.api.client import ShiftClient

HISTORY = 50


@dataclass(frozen=True, slots=True)
class Sight:
    """A view, and whether something changed since the last one (or only time went by)."""

    view: ShiftView
    changed: bool


async def viewed(client: "ShiftClient", shift: ShiftDocument) -> ShiftView:
    """The shift with the journal's tail, as a screen shows it."""
    return shift_view(shift.document, await _journal(client, shift), datetime.now(UTC))


async def follow(client: "ShiftClient", namespace: str, name: str, *, every_s: float = 1.0) -> AsyncGenerator[Sight]:
    """Views of one shift without end. Raises NotFound when it is deleted, Unavailable when the controller goes."""
    changes: asyncio.Queue[ShiftChange | BaseException] = asyncio.Queue()
    pump = asyncio.create_task(_pump(client, namespace, name, changes))
    try:
        shift: ShiftDocument | None = None
        journal: Sequence[Mapping[str, Any]] = ()
        while True:
            change = await _next(changes, every_s)
            if change is not None:
                shift = _alive(change)
                journal = await _journal(client, shift)
            if shift is not None:
                yield Sight(shift_view(shift.document, journal, datetime.now(UTC)), changed=change is not None)
    finally:
        pump.cancel()
        await asyncio.wait({pump})


async def _journal(client: "ShiftClient", shift: ShiftDocument) -> Sequence[Mapping[str, Any]]:
    return await client.history(shift.namespace, shift.name, limit=HISTORY)


async def _pump(
    client: "ShiftClient", namespace: str, name: str, changes: "asyncio.Queue[ShiftChange | BaseException]"
) -> None:
    """Moves the watch into the queue, its error too."""
    try:
        async for change in client.watch(namespace, name):
            changes.put_nowait(change)
    except Exception as error:
        changes.put_nowait(error)


async def _next(changes: "asyncio.Queue[ShiftChange | BaseException]", every_s: float) -> ShiftChange | None:
    """The newest change, or None when time has gone by without one."""
    try:
        found = await asyncio.wait_for(changes.get(), every_s)
    except TimeoutError:
        return None
    while not changes.empty() and not isinstance(found, BaseException):
        found = changes.get_nowait()
    if isinstance(found, BaseException):
        raise found
    return found


def _alive(change: ShiftChange) -> ShiftDocument:
    if change.deleted:
        raise NotFound(f"the shift {change.shift.name} was deleted", "tidegate list shows what there is")
    return change.shift
