"""What do the cluster's VirtualServices say, and how are new weights written? By JSON Patch, on nothing but weights."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from control.adapters.kubernetes.api import DESTINATION_RULES, VIRTUAL_SERVICES, Json, KubeApi, Overtaken
from control.adapters.kubernetes.informer import Informer, Key
from control.adapters.kubernetes.routes import Held, held, operations, view
from control.adapters.kubernetes.subsets import Addition, addition
from control.errors import Conflict, NotFound, Refused, Rejected
from control.ports import AddedSubsets, Applied
from mesh.istio.hosts import full_name
from mesh.istio.problem import RouteNotFound, WeightRefused
from mesh.istio.weights import RouteView, WeightPatch
from mesh.traffic import RouteRef
from mesh.xds.translate.differences import differences

TRIES = 10
BeforeWrite = Callable[[RouteRef], Awaitable[None]]
MayWrite = Callable[[], bool]
Listen = Callable[[Callable[[], None]], None]


async def _nothing(_ref: RouteRef) -> None:
    return None


def _never(_listener: Callable[[], None]) -> None:
    return None


class ClusterDocuments:
    """The Documents port. `may_write` is asked right before each write: only who leads does."""

    def __init__(
        self,
        api: KubeApi,
        services: Informer[Held],
        rules: Informer[Held],
        entries: Informer[Held],
        may_write: MayWrite,
    ) -> None:
        self._api = api
        self._services = services
        self._rules = rules
        self._entries = entries
        self._may_write = may_write
        self.before_write: BeforeWrite = _nothing
        self.rollouts: Listen = _never

    async def route(self, ref: RouteRef) -> RouteView:
        found = self._services.get(ref.namespace, ref.virtual_service)
        if found is None:
            names = ", ".join(sorted(f"{namespace}/{name}" for namespace, name in self._services.all()))
            hint = f"there are: {names}" if names else "the cluster has no VirtualService at all"
            raise NotFound(f"there is no {RouteRef(ref.namespace, ref.virtual_service)}", hint=hint)
        try:
            return view(found, ref)
        except RouteNotFound as error:
            raise NotFound(error.message, hint=error.hint) from error
        except WeightRefused as error:
            raise Rejected(error.message, hint=error.hint) from error

    async def apply(self, patch: WeightPatch) -> Applied:
        """Raises Conflict, Rejected, Unavailable. A right that is missing is Rejected: trying again won't help."""
        namespace, name = patch.ref.namespace, patch.ref.virtual_service
        found = self._services.get(namespace, name)
        if found is None:
            raise Conflict(f"{patch.ref} has gone", hint="read it again")
        await self.before_write(patch.ref)
        try:
            item = await self._patched(namespace, name, operations(found, patch))
        except Refused as error:
            raise Rejected(error.message, hint=error.hint) from error
        except NotFound as error:
            raise Conflict(error.message, hint=error.hint) from error
        self._services.seen(item)
        return Applied(patch.ref, str(held(item).generation))

    async def _patched(self, namespace: str, name: str, wanted: Sequence[Json]) -> Json:
        """The document with its new weights. The patch proves itself what it was made from, so that it is simply sent
        again where others keep writing: who writes annotations without end must not keep traffic from going back.
        """
        for _ in range(TRIES - 1):
            with contextlib.suppress(Overtaken):
                return await self._once(namespace, name, wanted)
        return await self._once(namespace, name, wanted)

    async def _once(self, namespace: str, name: str, wanted: Sequence[Json]) -> Json:
        if not self._may_write():
            raise Conflict("another controller leads now", hint="this one writes nothing any more")
        return await self._api.patch(VIRTUAL_SERVICES, namespace, name, wanted)

    async def differences(self, namespace: str, host: str, versions: Sequence[str]) -> tuple[str, ...]:
        documents = [
            each.document
            for informer in (self._services, self._rules, self._entries)
            for each in informer.all().values()
            if each.document is not None
        ]
        found = differences(documents, full_name(host, namespace), versions)
        return tuple(f"{each.field} ({_values(versions, each.values)})" for each in found)

    async def add_subsets(self, namespace: str, host: str, names: Sequence[str]) -> AddedSubsets | None:
        wanted = addition(self._rules.all(), namespace, host, names)
        if wanted is None:
            return None
        if not self._may_write():
            raise Conflict("another controller leads now", hint="this one writes nothing any more")
        try:
            self._rules.seen(await self._written(wanted))
        except Refused as error:
            raise Rejected(error.message, hint=error.hint) from error
        return AddedSubsets(wanted.rule, wanted.names)

    async def _written(self, wanted: Addition) -> Json:
        namespace, name = wanted.key
        if wanted.document is not None:
            return await self._api.create(DESTINATION_RULES, namespace, wanted.document)
        return await self._api.patch(DESTINATION_RULES, namespace, name, list(wanted.patch))

    async def changes(self) -> AsyncIterator[RouteRef | None]:
        waiting: asyncio.Queue[RouteRef | None] = asyncio.Queue()
        self._services.listen(lambda key: waiting.put_nowait(_ref(key)))
        self._rules.listen(lambda _key: waiting.put_nowait(None))
        self.rollouts(lambda: waiting.put_nowait(None))
        while True:
            yield await waiting.get()


def _values(versions: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{version}: {value}" for version, value in zip(versions, values, strict=True))


def _ref(key: Key) -> RouteRef:
    return RouteRef(*key)
