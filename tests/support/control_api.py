"""A ControlService on a real store and a real port, without a loop behind it: what it would wake is written down.

The mesh is a world in memory that holds the routes of `SHIFT` and of its copies.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from control.adapters.store.sqlite import SqliteStore
from control.api.client import GrpcShiftClient
from control.api.server import ControlServer
from control.api.shifts import Shifts
from control.loop.feed import ChangeFeed, ObservedStore, ShiftKey, Subscription
from control.loop.troubles import Trouble
from control.ports import History
from tests.support.control_time import StillClock
from tests.support.fake_ports import World, virtual_service

TOKEN = "secret"
SHIFT = b"""\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {name: translator, namespace: default}
spec:
  target:
    host: translator
    routes: [{virtualService: translator, route: primary}]
  stable: v1
  canary: v2
  strategy: {kind: steps, steps: [1%, 20%, 100%], hold: 10s}
"""


@dataclass
class Loop:
    """Stands for the loop: who was woken, and what looks run into."""

    woken: list[ShiftKey] = field(default_factory=list)
    troubles: dict[ShiftKey, Trouble] = field(default_factory=dict)

    def wake_by_person(self, key: ShiftKey) -> None:
        self.woken.append(key)

    def trouble(self, key: ShiftKey) -> Trouble | None:
        return self.troubles.get(key)


class CountedFeed(ChangeFeed):
    """A feed that knows how many watch."""

    watchers = 0

    def subscribe(self) -> Subscription:
        self.watchers += 1
        return super().subscribe()

    def unsubscribe(self, subscription: Subscription) -> None:
        self.watchers -= 1
        super().unsubscribe(subscription)


@dataclass
class Api:
    """A running server, and what is behind it."""

    address: str
    store: ObservedStore
    feed: CountedFeed
    loop: Loop
    shifts: Shifts
    server: ControlServer
    world: World


def mesh_of_copies() -> World:
    """The route of `SHIFT`, and those that it names when "translator" or "default" is replaced in it."""
    text = virtual_service("translator", "primary")
    copies = {
        ("default", "translator"): text,
        ("default", "other"): text.replace(b"translator", b"other"),
        ("elsewhere", "translator"): text.replace(b"default", b"elsewhere"),
    }
    return World(texts=copies)


@asynccontextmanager
async def serving_api(folder: Path, past: History | None = None) -> AsyncIterator[Api]:
    clock, feed, loop, world = StillClock(), CountedFeed(), Loop(), mesh_of_copies()
    inner = await SqliteStore.open(folder, clock.now())
    store = ObservedStore(inner, feed)
    shifts = Shifts(store, world.ports().documents, clock, loop, feed, asyncio.Lock(), past)
    server = ControlServer(shifts, listen="127.0.0.1:0", token=TOKEN, version="1.2.3")
    await server.start()
    try:
        yield Api(server.address, store, feed, loop, shifts, server, world)
    finally:
        await server.stop(0)
        await inner.close()


def client(api: Api, token: str = TOKEN) -> GrpcShiftClient:
    return GrpcShiftClient(api.address, token, timeout_s=5)
