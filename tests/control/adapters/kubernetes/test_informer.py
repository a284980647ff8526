"""What is known of a kind's objects, whatever the API server's stream of changes does."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from control.adapters.kubernetes.api import VIRTUAL_SERVICES, Gone
from control.adapters.kubernetes.informer import Informer
from tests.support.mesh_wait import until


def item(name: str, version: int = 1, **more: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop", "name": name, "resourceVersion": str(version)}, **more}


class Server:
    """An API server: what it lists now, and what each watch brings before it forgets what came after."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.items = list(items)
        self.version = 1
        self.since: list[str] = []
        self.forgets = asyncio.Event()

    async def list(self, _kind: Any, _namespace: str) -> dict[str, Any]:
        return {"items": self.items, "metadata": {"resourceVersion": str(self.version)}}

    async def watch(self, _kind: Any, _namespace: str, version: str, *, quiet_s: float) -> AsyncIterator[Any]:
        self.since.append(version)
        await self.forgets.wait()
        self.forgets.clear()
        raise Gone("too old resource version")
        yield  # it is a stream


async def test_what_changed_and_went_unseen_is_found_by_a_fresh_list() -> None:
    server, told = Server(item("cart"), item("search")), []
    informer: Informer[Any] = Informer(server, VIRTUAL_SERVICES, lambda each: each)  # type: ignore[arg-type]
    informer.listen(lambda key: told.append(key[1]))
    task = asyncio.ensure_future(informer.run())
    try:
        await until(lambda: server.since == ["1"], what="it watches from the list on")
        server.items, server.version = [item("cart", 7, spec="new"), item("late", 8)], 9
        told.clear()
        server.forgets.set()
        await until(lambda: server.since == ["1", "9"], what="it has listed again, and watches from there")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert sorted(told) == ["cart", "late", "search"]
    assert informer.get("shop", "cart")["spec"] == "new"
    assert informer.get("shop", "search") is None
    assert (sorted(name for _, name in informer.objects), informer.relisted) == (["cart", "late"], 2)
