"""State in an object's status, on an API server that answers slowly, refuses or goes away."""

import asyncio
import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from control.adapters.kubernetes.informer import Informer
from control.adapters.kubernetes.notes import slim
from control.adapters.kubernetes.store import ClusterStore
from control.errors import Conflict, Refused, Rejected, SpecError, TidegateError, Unavailable

KEY = ("shop", "cart")
NOW = datetime(2026, 5, 1, tzinfo=UTC)
SPEC: dict[str, Any] = {
    "target": {"host": "cart", "routes": [{"virtualService": "cart"}]},
    "stable": "v1",
    "canary": "v2",
}


class SlowApi:
    """The API server of one object: a patch of its status takes until `go`, or ends in `error`."""

    def __init__(self) -> None:
        self.item: dict[str, Any] = {
            "apiVersion": "tidegate.dev/v1alpha1",
            "kind": "TrafficShift",
            "metadata": {"name": "cart", "namespace": "shop", "uid": "u1", "resourceVersion": "1"},
            "spec": SPEC,
        }
        self.go = asyncio.Event()
        self.go.set()
        self.errors: list[TidegateError] = []
        self.patches: list[Any] = []

    async def list(self, *_: Any) -> dict[str, Any]:
        return {"metadata": {"resourceVersion": "1"}, "items": [self.item]}

    async def get(self, *_: Any) -> dict[str, Any]:
        return self.item

    async def patch(self, _kind: Any, _namespace: str, _name: str, operations: Any, **_: Any) -> dict[str, Any]:
        await self.go.wait()
        self.patches.append(operations)
        if self.errors:
            raise self.errors.pop(0)
        self.item = copy.deepcopy(self.item) | {"status": operations[1]["value"]}
        return self.item


class Clock:
    def now(self) -> datetime:
        return NOW


async def opened(api: SlowApi, *, leads: bool = True) -> ClusterStore:
    shifts: Informer[Any] = Informer(api, None, slim)  # type: ignore[arg-type]
    await shifts._list()
    return ClusterStore(api, shifts, Clock(), may_write=lambda: leads, recorded=lambda *_: None)  # type: ignore[arg-type]


async def save(store: ClusterStore, expect: int, **changes: Any) -> int:
    stored = await store.load(*KEY)
    assert stored is not None
    return await store.save(*KEY, spec=stored.spec, state={**stored.state, **changes}, expect=expect)


async def version(store: ClusterStore) -> int:
    stored = await store.load(*KEY)
    assert stored is not None
    return stored.version


async def test_of_two_writes_on_one_version_the_second_conflicts_however_slow_the_first_is() -> None:
    api = SlowApi()
    store = await opened(api)
    seen = await version(store)
    api.go.clear()
    first = asyncio.ensure_future(save(store, seen, commands=["a person's"]))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(save(store, seen, entries=7))
    await asyncio.sleep(0)
    api.go.set()
    await first
    with pytest.raises(Conflict):
        await second
    stored = await store.load(*KEY)
    assert stored is not None
    assert stored.state["commands"] == ["a person's"]
    assert api.item["status"]["state"]["commands"] == ["a person's"]


async def test_what_could_not_be_written_is_not_acted_on() -> None:
    api = SlowApi()
    store = await opened(api)
    api.errors = [Unavailable("away")]
    with pytest.raises(Unavailable):
        await save(store, await version(store), entries=7)
    stored = await store.load(*KEY)
    assert stored is not None
    assert stored.state.get("entries", 0) == 0


async def test_a_status_that_is_refused_is_written_bare() -> None:
    api = SlowApi()
    store = await opened(api)
    api.errors = [Rejected("lastCommand must be text")]
    await save(store, await version(store), entries=7)
    assert set(api.item["status"]) == {"phase", "checkpoint", "state", "accepted"}


async def test_who_does_not_lead_writes_nothing() -> None:
    api = SlowApi()
    store = await opened(api, leads=False)
    with pytest.raises(Conflict, match="leads now"):
        await save(store, await version(store), entries=7)
    assert api.patches == []


async def test_what_is_only_counted_costs_no_write() -> None:
    api = SlowApi()
    store = await opened(api)
    await save(store, await version(store), entries=7)
    await save(store, await version(store), flow={"requests": 9})
    assert len(api.patches) == 1
    stored = await store.load(*KEY)
    assert stored is not None
    assert stored.state["flow"] == {"requests": 9}


async def test_the_spec_is_its_authors() -> None:
    store = await opened(SlowApi())
    with pytest.raises(Refused):
        await store.save(*KEY, spec={}, state={}, expect=await version(store))


async def test_a_document_that_was_never_right_is_told_and_one_that_was_still_holds() -> None:
    api = SlowApi()
    store = await opened(api)
    seen = await version(store)
    api.item = {**api.item, "spec": {**SPEC, "canary": "v1"}}
    store._shifts.seen(api.item)
    stored = await store.load(*KEY)
    assert stored is not None
    assert stored.spec["spec"]["canary"] == "v2"
    assert stored.version > seen
    fresh = await opened(api)
    with pytest.raises(SpecError):
        await fresh.load(*KEY)
    await fresh.note_invalid(KEY, "stable and canary are the same")
    assert api.item["status"]["phase"] == "Invalid"
