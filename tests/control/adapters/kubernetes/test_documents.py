"""How often is a weight sent to an API server that others keep busy, and when not again?"""

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from control.adapters.kubernetes.api import Overtaken, failure
from control.adapters.kubernetes.documents import TRIES, ClusterDocuments
from control.adapters.kubernetes.routes import held
from control.errors import Conflict, Rejected, TidegateError, Unavailable
from mesh.istio.weights import weight_patch
from mesh.traffic import RouteRef, TrafficSplit
from tests.control.adapters.kubernetes.test_routes import item

REF = RouteRef("shop", "cart", "primary")
HOST = "cart.shop.svc.cluster.local"
BUSY = failure(409, '{"message": "the object has been modified"}', "cart")


class Server:
    """Answers patches with these errors in turn, then takes one."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def patch(self, *_words: Any) -> Any:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return item(90, 10)


async def apply(server: Server, may_write: Callable[[], bool] = lambda: True) -> None:
    known: Any = SimpleNamespace(get=lambda *_key: held(item(100, 0)), seen=lambda _item: None)
    documents = ClusterDocuments(server, known, known, known, may_write)  # type: ignore[arg-type]
    patch = weight_patch(await documents.route(REF), TrafficSplit(HOST, "v1", "v2", Fraction(1, 10)))
    assert patch is not None
    await documents.apply(patch)


@pytest.mark.parametrize("times", [0, 1, TRIES - 1], ids=["not", "once", "almost always"])
async def test_a_patch_that_others_overtake_is_sent_again(times: int) -> None:
    server = Server(*[BUSY] * times)
    await apply(server)
    assert server.asked == times + 1


async def test_where_others_never_stop_it_is_a_conflict_in_the_end() -> None:
    server = Server(*[BUSY] * TRIES)
    with pytest.raises(Conflict):
        await apply(server)
    assert server.asked == TRIES


FINAL = {
    "its test failed": (failure(422, '{"message": "testing path /spec failed"}', "cart"), Conflict),
    "it is refused": (failure(403, "{}", "cart"), Rejected),
    "nobody answers": (failure(500, "{}", "cart"), Unavailable),
}


@pytest.mark.parametrize(("error", "raised"), FINAL.values(), ids=FINAL.keys())
async def test_a_patch_is_not_sent_again_where(error: TidegateError, raised: type[TidegateError]) -> None:
    server = Server(error)
    with pytest.raises(raised):
        await apply(server)
    assert server.asked == 1


async def test_who_lost_the_lease_meanwhile_sends_nothing_again() -> None:
    leads = iter([True, False])
    server = Server(BUSY, BUSY)
    with pytest.raises(Conflict, match="another controller leads"):
        await apply(server, lambda: next(leads))
    assert (server.asked, isinstance(BUSY, Overtaken)) == (1, True)
