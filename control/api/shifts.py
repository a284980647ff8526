"""What can be done with shifts? Read, watch, apply, delete, command: as values and errors, without a word of gRPC.

Every write is a compare-and-swap on what was read; when a tick wrote in between it is read again and decided again.
`dry_run` goes the whole way except for the write. Whatever is written here wakes the shift, so that an answer
"accepted" is acted on at once.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from control.api.baseline import baseline
from control.api.model import ApplyResult, CommandResult, ShiftChange, ShiftDocument
from control.api.routes import ask_mesh, ask_versions
from control.engine.admission import admit
from control.engine.command import Command
from control.engine.commands import accept_deletion
from control.engine.phase import FINISHED, Phase
from control.engine.state import ShiftState, new_state
from control.engine.state_json import state_of
from control.engine.status import status
from control.errors import Conflict, InvariantBroken, NotFound, Refused, Unavailable
from control.loop.commands import accept
from control.loop.feed import ChangeFeed, ShiftKey
from control.loop.troubles import Trouble
from control.ports import Clock, Documents, History, Store, Stored
from control.spec import OnDelete, TrafficShift, read_draft, stored_shift, to_document

TRIES = 10
MAX_TEXT_BYTES = 256 * 1024
UNASKED = "the mesh does not answer now, so its routes are checked when it does"
T = TypeVar("T")


class Looks(Protocol):
    """Whoever looks at shifts: can be woken, and says what the last look ran into."""

    def wake_by_person(self, key: ShiftKey) -> None: ...

    def trouble(self, key: ShiftKey) -> Trouble | None: ...


@dataclass(frozen=True, slots=True)
class Shifts:
    """All operations on shifts. `documents` are asked, never written; `feed` tells which shift changed, `writing` keeps
    two applies apart; `past` is what was counted before, where anybody keeps that.
    """

    store: Store
    documents: Documents
    clock: Clock
    looks: Looks
    feed: ChangeFeed
    writing: asyncio.Lock
    past: History | None = None

    def now(self) -> datetime:
        return self.clock.now()

    def close(self) -> None:
        """Ends every watch."""
        self.feed.close()

    async def list(self, namespace: str = "") -> Sequence[ShiftDocument]:
        return [self._document(each) for each in await self.store.list(namespace or None)]

    async def get(self, namespace: str, name: str) -> ShiftDocument:
        return self._document(await self._stored(namespace, name))

    async def watch(self, namespace: str = "", name: str = "") -> AsyncGenerator[ShiftChange, None]:
        """The documents now, then each change. Raises NotFound when a named shift does not exist at the beginning."""
        subscription = self.feed.subscribe()
        try:
            known = [await self.get(namespace, name)] if name else await self.list(namespace)
            last = {(each.namespace, each.name): each for each in known}
            for document in known:
                yield ShiftChange(document)
            async for key in subscription:
                if _watched(key, namespace, name) and (change := await self._change(key, last)) is not None:
                    yield change
        finally:
            self.feed.unsubscribe(subscription)
        raise Unavailable("the controller is stopping", hint="ask again in a moment")

    async def history(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        """The newest `limit` entries (0: all kept), oldest first: whoever saw a status also sees what it tells of."""
        stored = await self.store.load(namespace, name)  # before the journal, or what waits could be in neither
        entries = await self.store.journal(namespace, name, limit=max(0, limit))
        if stored is None and not entries:
            await self._stored(namespace, name)
        waiting = stored.state.get("outbox", ()) if stored is not None else ()
        return [*entries, *(each for each in waiting if each not in entries)][-limit if limit > 0 else 0 :]

    async def baseline(self, namespace: str, name: str) -> Mapping[str, Any]:
        """Raises NotFound, Refused when the shift names none, Unavailable."""
        stored = await self._stored(namespace, name)
        return await baseline(self.past, stored_shift(stored.spec), _state(stored))

    async def apply(self, text: bytes, source: str, *, dry_run: bool = False) -> ApplyResult:
        """Raises SpecError, Refused."""
        if len(text) > MAX_TEXT_BYTES:
            raise Refused(f"{source} has more than {MAX_TEXT_BYTES:,} bytes", hint="that is the limit")
        draft = read_draft(text, source)
        answers = await ask_mesh(self.documents, draft.mentions())
        shift = draft.shift(answers.mistakes)
        versions = await ask_versions(self.documents, shift)
        draft.shift(versions.mistakes)
        async with self.writing:
            result = await _retried(lambda: self._apply(shift, dry_run=dry_run))
        return (
            result
            if answers.complete and versions.complete
            else replace(result, outcome=f"{result.outcome}; {UNASKED}")
        )

    async def delete(self, namespace: str, name: str, *, dry_run: bool = False) -> str:
        return await _retried(lambda: self._delete(namespace, name, dry_run=dry_run))

    async def command(self, namespace: str, name: str, command: Command, *, dry_run: bool = False) -> CommandResult:
        """Raises NotFound, Refused."""
        return await _retried(lambda: self._command(namespace, name, command, dry_run=dry_run))

    async def _apply(self, shift: TrafficShift, *, dry_run: bool) -> ApplyResult:
        stored = await self.store.load(*shift.key)
        state = _state(stored) if stored is not None else None
        if state is not None and state.deleting:
            raise Refused(f"{shift.namespace}/{shift.name} is being deleted", hint="apply it again when it is gone")
        admit(shift, [stored_shift(each.spec) for each in await self.store.list()], state)
        spec = to_document(shift)
        if stored is not None and stored.spec == spec:
            return ApplyResult(self._document(stored), "unchanged")
        before = stored or Stored(*shift.key, spec=spec, state=new_state(shift).to_json(), version=0)
        after = await self._save(replace(before, spec=spec), dry_run=dry_run)
        return ApplyResult(self._document(after), "changed" if stored else "created")

    async def _delete(self, namespace: str, name: str, *, dry_run: bool) -> str:
        stored = await self._stored(namespace, name)
        try:
            state = _state(stored)
        except InvariantBroken as broken:
            return _said(await self._discard(stored, broken, dry_run=dry_run), dry_run=dry_run)
        if not state.deleting:
            marked = replace(stored, state=accept_deletion(state).to_json())
            await self._save(marked, dry_run=dry_run)
        return _said(_what_deletion_does(stored_shift(stored.spec), state), dry_run=dry_run)

    async def _discard(self, stored: Stored, broken: InvariantBroken, *, dry_run: bool) -> str:
        """Deletes a shift whose state nobody can act on."""
        if not dry_run:
            await self.store.delete(stored.namespace, stored.name, expect=stored.version)
        return f"{broken.message}: the shift is deleted, the traffic stays as it is"

    async def _command(self, namespace: str, name: str, command: Command, *, dry_run: bool) -> CommandResult:
        stored = await self._stored(namespace, name)
        accepted = accept(stored, command, self.now())
        if accepted.state == stored.state:  # taken before under the same id, or so already
            return CommandResult(self._document(stored), accepted.sentence)
        after = await self._save(replace(stored, state=accepted.state), dry_run=dry_run)
        return CommandResult(self._document(after), _said(accepted.sentence, dry_run=dry_run))

    async def _save(self, wanted: Stored, *, dry_run: bool) -> Stored:
        if dry_run:
            return wanted
        namespace, name = wanted.namespace, wanted.name
        version = await self.store.save(namespace, name, spec=wanted.spec, state=wanted.state, expect=wanted.version)
        self.looks.wake_by_person((namespace, name))
        return replace(wanted, version=version)

    async def _stored(self, namespace: str, name: str) -> Stored:
        stored = await self.store.load(namespace, name)
        if stored is None:
            names = ", ".join(f"{each.namespace}/{each.name}" for each in await self.store.list())
            hint = f"there are: {names}" if names else "there is none; `tidegate apply FILE` makes one"
            raise NotFound(f"there is no TrafficShift {namespace}/{name}", hint=hint)
        return stored

    async def _change(self, key: ShiftKey, last: dict[ShiftKey, ShiftDocument]) -> ShiftChange | None:
        stored = await self.store.load(*key)
        if stored is None:
            gone = last.pop(key, None)
            return None if gone is None else ShiftChange(gone, deleted=True)
        document = self._document(stored)
        if last.get(key) == document:
            return None
        last[key] = document
        return ShiftChange(document)

    def _document(self, stored: Stored) -> ShiftDocument:
        key = (stored.namespace, stored.name)
        trouble = self.looks.trouble(key)
        try:
            found = status(stored_shift(stored.spec), _state(stored), self.now())
        except InvariantBroken as broken:
            found = {"phase": Phase.FAILED.value, "reason": broken.message, "conditions": []}
        document = {**stored.spec, "status": _with_trouble(found, trouble) if trouble else found}
        return ShiftDocument(stored.namespace, stored.name, document, stored.version)


async def _retried(operation: Callable[[], Awaitable[T]]) -> T:
    for _ in range(TRIES - 1):
        try:
            return await operation()
        except Conflict:
            await asyncio.sleep(0)
    return await operation()


def _state(stored: Stored) -> ShiftState:
    return state_of(stored.state)


def _watched(key: ShiftKey, namespace: str, name: str) -> bool:
    return key == (namespace, name) if name else namespace in ("", key[0])


def _said(outcome: str, *, dry_run: bool) -> str:
    """An outcome in words: what nobody has decided yet is only what would be."""
    return f"would: {outcome}" if dry_run else outcome


def _what_deletion_does(shift: TrafficShift, state: ShiftState) -> str:
    if state.phase in FINISHED or shift.on_delete is OnDelete.KEEP:
        return "the traffic stays as it is; the shift is deleted"
    return f"all traffic goes back to {state.subject.stable}, then the shift is deleted"


def _with_trouble(found: Mapping[str, Any], trouble: Trouble) -> dict[str, Any]:
    """The status with what the last look ran into: a frozen shift has failed, any other one waits."""
    condition = {
        "type": "Frozen" if trouble.frozen else "Unavailable" if trouble.code == Unavailable.code else "Blocked",
        "status": "True",
        "reason": trouble.code,
        "message": trouble.message,
        "since": trouble.since.isoformat().replace("+00:00", "Z"),
    }
    shown = {**found, "conditions": [*found.get("conditions", ()), condition]}
    if trouble.frozen:
        return {**shown, "phase": Phase.FAILED.value, "reason": trouble.message, "waitingFor": trouble.hint}
    return {**shown, "waitingFor": f"{trouble.message}; looking again ({trouble.failures:,} in vain)"}
