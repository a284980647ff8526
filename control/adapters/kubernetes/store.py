"""Where does the state of a shift live on a cluster? In its object's status, written when something was decided.

Between two checkpoints what was counted lives in memory, under the lease that makes this controller the only one that
looks at shifts. Each write proves by the checkpoint's number that no other controller has written since.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from control.adapters.kubernetes.api import TRAFFIC_SHIFTS, Json, KubeApi
from control.adapters.kubernetes.checkpoint import Checkpoint, is_due, kept, patch, printed
from control.adapters.kubernetes.informer import Informer, Key
from control.adapters.kubernetes.notes import FINALIZER, document_of, finalizer_patch, finalizers
from control.engine.state import ShiftState, new_state
from control.engine.state_json import state_of
from control.engine.status import status
from control.errors import Conflict, InvariantBroken, NotFound, Refused, Rejected, SpecError
from control.loop.troubles import Trouble
from control.ports import Clock, Stored
from control.spec import Source, TrafficShift, from_document, stored_shift, to_document

MayWrite = Callable[[], bool]
Recorded = Callable[[Key, Sequence[Mapping[str, Any]]], None]


@dataclass(slots=True)
class Entry:
    """What we know of one shift. `item` is the object as the API server gave it last, `spec` the last that was right.

    `version` grows with every change of what a tick read, whoever made it. `writing` keeps two writes apart: a tick and
    a person's command that read the same version must not both succeed.
    """

    item: Json
    spec: Json
    state: Mapping[str, Any]
    version: int
    last: Checkpoint
    history: list[Json]
    command: Json = field(default_factory=dict)
    mistakes: str = ""
    trouble: Trouble | None = None
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)


class ClusterStore:
    """The Store port on the objects themselves. `recorded` is told of each new entry of a journal."""

    def __init__(
        self, api: KubeApi, shifts: Informer[Json], clock: Clock, *, may_write: MayWrite, recorded: Recorded
    ) -> None:
        self._api = api
        self._shifts = shifts
        self._clock = clock
        self._may_write = may_write
        self._recorded = recorded
        self._entries: dict[Key, Entry] = {}
        self._versions = 0
        self.writes = 0

    def forget(self) -> None:
        """What another controller has decided meanwhile is read anew."""
        self._entries.clear()

    async def load(self, namespace: str, name: str) -> Stored | None:
        """Raises SpecError for one whose document was never right."""
        entry = self._entry((namespace, name))
        return None if entry is None else Stored(namespace, name, entry.spec, entry.state, entry.version)

    async def list(self, namespace: str | None = None) -> Sequence[Stored]:
        """Those whose documents can be read."""
        found = []
        for key in sorted(self._shifts.all()):
            if namespace in (None, key[0]):
                try:
                    stored = await self.load(*key)
                except SpecError:
                    continue
                found += [stored] if stored is not None else []
        return found

    async def save(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], state: Mapping[str, Any], expect: int
    ) -> int:
        """Writes the status when something was decided, or counted for long. The spec is the object's author's."""
        key = (namespace, name)
        async with self._expected(key, expect).writing:
            entry = self._expected(key, expect)
            if spec != entry.spec:
                raise Refused("the spec of a TrafficShift is written to its object", hint="kubectl apply")
            if is_due(entry.last, state_of(state), self._clock.now()):
                await self._write(key, entry, state)
            entry.state = state  # only now: what is not known to be written must not be acted on
            entry.version = self._next()
            return entry.version

    async def delete(self, namespace: str, name: str, *, expect: int) -> None:
        """Lets the object go: our finalizer is what kept it."""
        entry = self._expected((namespace, name), expect)
        left = [each for each in finalizers(entry.item) if each != FINALIZER]
        with contextlib.suppress(NotFound):
            await self._api.patch(TRAFFIC_SHIFTS, namespace, name, finalizer_patch(entry.item, left))
        self._entries.pop((namespace, name), None)

    async def record(self, namespace: str, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """The newest stand in the status from its next write on; all are told to log and Events at once."""
        entry = self._entry((namespace, name))
        if entry is None:
            return
        fresh = [each for each in entries if each not in entry.history]
        entry.history = kept(entry.history, fresh)
        self._recorded((namespace, name), fresh)

    async def journal(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        entry = self._entry((namespace, name))
        return [] if entry is None else entry.history[-limit if limit > 0 else 0 :]

    async def note_trouble(self, key: Key, trouble: Trouble | None) -> None:
        """What the last look ran into, shown in the status as long as it is so."""
        entry = self._entries.get(key)
        before = entry.trouble if entry is not None else None
        if entry is None or (before and before.message) == (trouble and trouble.message):
            return
        async with entry.writing:
            entry.trouble = trouble
            await self._write(key, entry, entry.state)

    async def note_command(self, key: Key, answer: Json) -> None:
        """What became of a command, for whoever gave it."""
        entry = self._entry(key)
        if entry is not None:
            async with entry.writing:
                entry.command = answer
                await self._write(key, entry, entry.state)

    async def note_invalid(self, key: Key, mistakes: str) -> None:
        """A document that was never right has no state: only what is wrong with it is shown."""
        item = self._shifts.get(*key)
        shown = {"phase": "Invalid", "reason": mistakes[:1000], "conditions": [_condition("Invalid", "spec", mistakes)]}
        if item is None or (item.get("status") or {}).get("reason") == shown["reason"]:
            return
        operations = patch(Checkpoint(), item["metadata"]["resourceVersion"], shown, exists=bool(item.get("status")))
        self._shifts.seen(await self._api.patch(TRAFFIC_SHIFTS, *key, operations, subresource="status"))

    def answered(self, key: Key) -> str:
        """The id of the last command that was answered."""
        entry = self._entry(key)
        return "" if entry is None else str(entry.command.get("id", ""))

    def _expected(self, key: Key, expect: int) -> Entry:
        entry = self._entry(key)
        if entry is None or entry.version != expect:
            raise Conflict(f"{'/'.join(key)} has changed since it was read", hint="read it again")
        return entry

    def _entry(self, key: Key) -> Entry | None:
        item = self._shifts.get(*key)
        if item is None:
            self._entries.pop(key, None)
            return None
        entry = self._entries.get(key)
        if entry is None or entry.item["metadata"]["uid"] != item["metadata"]["uid"]:
            entry = self._entries[key] = self._fresh(item)
        elif entry.item is not item:
            self._follow(entry, item)
        return entry

    def _fresh(self, item: Json) -> Entry:
        found = item.get("status") or {}
        spec, mistakes = _accepted(item, found.get("accepted"))
        number, state = int(found.get("checkpoint", 0)), found.get("state")
        known = state if state else new_state(stored_shift(spec)).to_json()
        last = Checkpoint(number, _known(state), self._clock.now() if state else None)
        history = list(found.get("history") or ())
        return Entry(item, spec, known, self._next(), last, history, found.get("lastCommand") or {}, mistakes)

    def _follow(self, entry: Entry, item: Json) -> None:
        """The object changed: its author's part, or another controller's status."""
        before, entry.item = entry.item, item
        if document_of(before) != document_of(item):
            entry.spec, entry.mistakes = _accepted(item, entry.spec)
            entry.version = self._next()
        found = item.get("status") or {}
        if int(found.get("checkpoint", 0)) > entry.last.number:
            fresh = self._fresh(item)
            entry.state, entry.last, entry.history = fresh.state, fresh.last, fresh.history
            entry.command, entry.version = fresh.command, fresh.version

    async def _write(self, key: Key, entry: Entry, state: Mapping[str, Any]) -> None:
        """Raises Conflict when another controller has written, or leads now."""
        if not self._may_write():
            raise Conflict("another controller leads now", hint="this one writes nothing any more")
        now = self._clock.now()
        number, exists = entry.last.number + 1, bool(entry.item.get("status"))
        shown = self._status(entry, state) | {"checkpoint": number}
        guarded = partial(patch, entry.last, entry.item["metadata"]["resourceVersion"], exists=exists)
        try:
            item = await self._patched(key, guarded(shown), guarded(_bare(shown)))
        except Conflict:
            self._shifts.seen(await self._api.get(TRAFFIC_SHIFTS, *key))
            raise
        self.writes += 1
        entry.last = Checkpoint(number, state_of(state), now)
        self._shifts.seen(item)
        current = self._shifts.get(*key)
        entry.item = current if current is not None else entry.item

    async def _patched(self, key: Key, whole: Sequence[Json], bare: Sequence[Json]) -> Json:
        """The object with its status. What is only for people to read must never keep what was decided from being
        written: where the API server refuses the whole (an older CRD), the state alone is written.
        """
        try:
            return await self._api.patch(TRAFFIC_SHIFTS, *key, whole, subresource="status")
        except Rejected:
            return await self._api.patch(TRAFFIC_SHIFTS, *key, bare, subresource="status")

    def _status(self, entry: Entry, state: Mapping[str, Any]) -> Json:
        shift = stored_shift(entry.spec)
        found = status(shift, state_of(state), self._clock.now())
        conditions = [*found["conditions"], *_conditions(entry)]
        history = kept(entry.history, state.get("outbox", ()))  # what a status tells of is in its history too
        own = {"state": dict(state), "history": history, "accepted": entry.spec}
        command = {"lastCommand": entry.command} if entry.command else {}
        return {**found, **printed(found), "conditions": conditions, **own, **command}

    def _next(self) -> int:
        self._versions += 1
        return self._versions


def _known(state: Json | None) -> ShiftState | None:
    """The state that another controller left; None for none, and for one that can't be read, which is never written."""
    try:
        return ShiftState.from_json(state) if state else None
    except InvariantBroken:
        return None


def _bare(status: Json) -> Json:
    """What a controller needs to go on."""
    return {name: status[name] for name in ("phase", "checkpoint", "state", "accepted")}


def _accepted(item: Json, former: Json | None) -> tuple[Json, str]:
    """The document in full, or the last one that was right and what is wrong with this. Raises SpecError."""
    try:
        return to_document(_read(item)), ""
    except SpecError as error:
        if former is None:
            raise
        return former, str(error)


def _read(item: Json) -> TrafficShift:
    """The shift that a document asks for. On a cluster no Envoy is read: Prometheus counts, whatever it says."""
    shift = from_document(document_of(item), f"TrafficShift {item['metadata']['namespace']}/{item['metadata']['name']}")
    return replace(shift, source=Source.PROMETHEUS)


def _conditions(entry: Entry) -> list[Json]:
    found = []
    if entry.mistakes:
        found.append(_condition("Invalid", "spec", f"{entry.mistakes}; what was asked for before still holds"))
    if entry.trouble is not None:
        kind = "Frozen" if entry.trouble.frozen else "Blocked"
        found.append(_condition(kind, entry.trouble.code, entry.trouble.message))
    return found


def _condition(kind: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": "True", "reason": reason, "message": message[:1000]}
