"""What do people ask for by writing into TrafficShifts? Commands, deletions, and new documents."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from control.adapters.kubernetes.api import TRAFFIC_SHIFTS, Json, KubeApi
from control.adapters.kubernetes.informer import Informer, Key
from control.adapters.kubernetes.inspection import stands
from control.adapters.kubernetes.notes import (
    FINALIZER,
    command,
    document_of,
    finalizer_patch,
    finalizers,
    is_going,
    note,
    note_id,
)
from control.adapters.kubernetes.store import ClusterStore
from control.engine.command import Command
from control.errors import NotFound, Refused
from control.ports import Clock

AUTHOR_POLICY = "tidegate-command-author"
POLICY_FRESH_S = 60.0


class Mailbox:
    """Reads objects, answers in their status. `news` yields the key of each shift that somebody changed."""

    def __init__(self, api: KubeApi, shifts: Informer[Json], store: ClusterStore, clock: Clock) -> None:
        self._api = api
        self._shifts = shifts
        self._store = store
        self._clock = clock
        self._known: dict[Key, Json] = {}
        self._policy: tuple[float, bool] = (-POLICY_FRESH_S, False)

    async def news(self) -> AsyncIterator[Key]:
        """Every shift once, then each that somebody else than this controller changed."""
        waiting: asyncio.Queue[Key] = asyncio.Queue()
        self._known.clear()
        self._shifts.listen(waiting.put_nowait)
        for key in list(self._shifts.all()):
            waiting.put_nowait(key)
        while True:
            key = await waiting.get()
            item = self._shifts.objects.get(key)
            asked = _asked(item) if item is not None else {}
            if self._known.get(key) != asked:
                self._known[key] = asked
                yield key

    def is_going(self, key: Key) -> bool:
        item = self._shifts.objects.get(key)
        return item is not None and is_going(item)

    async def hold_fast(self, key: Key) -> None:
        """Makes sure that the object can't vanish before its traffic is where it belongs."""
        item = self._shifts.objects.get(key)
        if item is None or is_going(item) or FINALIZER in finalizers(item):
            return
        patch = finalizer_patch(item, [*finalizers(item), FINALIZER])
        self._shifts.seen(await self._api.patch(TRAFFIC_SHIFTS, *key, patch))

    async def let_go(self, key: Key) -> None:
        """Our finalizer no longer keeps the object."""
        item = self._shifts.objects.get(key)
        if item is not None and FINALIZER in finalizers(item):
            left = [each for each in finalizers(item) if each != FINALIZER]
            with contextlib.suppress(NotFound):
                self._shifts.seen(await self._api.patch(TRAFFIC_SHIFTS, *key, finalizer_patch(item, left)))

    async def command(self, key: Key) -> Command | None:
        """The command that was not answered yet. One that is no command is answered here."""
        item = self._shifts.objects.get(key)
        found = note(item) if item is not None else None
        if found is None or note_id(found) == self._store.answered(key):
            return None
        try:
            return command(found, self._clock.now(), verified=await self._authors_are_verified())
        except Refused as error:
            await self.answer(key, note_id(found), error.message, refused=True)
            return None

    async def answer(self, key: Key, command_id: str, sentence: str, *, refused: bool = False) -> None:
        await self._store.note_command(
            key, {"id": command_id, "outcome": sentence, "refused": refused, "at": self._clock.now().isoformat()}
        )

    async def _authors_are_verified(self) -> bool:
        """Is the policy in force that refuses every author's name but the caller's own?"""
        now = asyncio.get_running_loop().time()
        if now - self._policy[0] > POLICY_FRESH_S:
            self._policy = now, await stands(self._api, AUTHOR_POLICY) is True
        return self._policy[1]


def _asked(item: Json) -> Json:
    """What of an object is a person's."""
    found = note(item)
    return {"document": document_of(item), "going": is_going(item), "command": found, "uid": item["metadata"]["uid"]}
