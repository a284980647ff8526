"""What do all istiods say of the proxies? Each replica knows only the proxies that are connected to it."""

import asyncio
import ipaddress
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from control.adapters.kubernetes.api import Json, Kind, KubeApi
from control.errors import TidegateError, Unavailable

SLICES = Kind("discovery.k8s.io", "v1", "endpointslices")
SERVICE_NAME = "kubernetes.io/service-name"
SYNCZ_FRESH_S = 0.05
REPLICAS_FRESH_S = 10.0


class Istiods:
    """The debug interface of every istiod. `addresses` are URLs; one that names a Service means all its endpoints."""

    def __init__(self, api: KubeApi, addresses: Sequence[str], *, deadline_s: float) -> None:
        self._api = api
        self._addresses = tuple(addresses)
        self._timeout = aiohttp.ClientTimeout(total=deadline_s)
        self._session: aiohttp.ClientSession | None = None
        self._lists: dict[str, tuple[float, asyncio.Future[Any]]] = {}
        self._failing: dict[str, Unavailable] = {}
        self._found: tuple[float, tuple[str, ...]] = (-REPLICAS_FRESH_S, ())

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def replicas(self) -> tuple[str, ...]:
        """The URL of each replica. Raises Unavailable."""
        now = asyncio.get_running_loop().time()
        if now - self._found[0] > REPLICAS_FRESH_S:
            found = await asyncio.gather(*(self._replicas(each) for each in self._addresses))
            self._found = now, tuple(url for urls in found for url in urls)
        return self._found[1]

    async def syncz(self, replica: str) -> list[Json]:
        """The proxies of one replica, as of this moment or a little before: many shifts ask at once.

        Raises Unavailable, also where the interface wants to know who asks. One that did not answer last time is asked
        again, but nobody waits for it: a look must not take as long as its silence.
        """
        answer = self._asked(replica)
        if replica in self._failing and not answer.done():
            raise self._failing[replica]
        found: list[Json] | None = await asyncio.shield(answer)
        if found is None:
            raise Unavailable(
                f"istiod {replica} has no /debug/syncz", hint="is the address that of its debug interface?"
            )
        return found

    def _asked(self, replica: str) -> asyncio.Future[Any]:
        now = asyncio.get_running_loop().time()
        at, answer = self._lists.get(replica, (-1.0, None))
        still_asked = answer is not None and not answer.done() and replica in self._failing
        if answer is None or (now - at > SYNCZ_FRESH_S and not still_asked):
            answer = asyncio.ensure_future(self._get(replica, "/debug/syncz", {}))
            answer.add_done_callback(partial(self._heard, replica))
            self._lists[replica] = now, answer
        return answer

    def _heard(self, replica: str, answer: asyncio.Future[Any]) -> None:
        error = None if answer.cancelled() else answer.exception()
        if isinstance(error, Unavailable):
            self._failing[replica] = error
        else:
            self._failing.pop(replica, None)

    def forget(self) -> None:
        """What was heard before now says nothing of what comes after."""
        silent = {name for name in self._failing if name in self._lists and not self._lists[name][1].done()}
        self._lists = {name: self._lists[name] for name in silent}

    async def config_dump(self, replica: str, proxy: str) -> Json | None:
        """What a proxy's configuration is, None for one that has left or is only coming. Raises Unavailable."""
        found: Json | None = await self._get(replica, "/debug/config_dump", {"proxyID": proxy})
        return found

    async def _replicas(self, address: str) -> list[str]:
        """A Service hides its replicas behind one address: its EndpointSlices name them."""
        url = urlsplit(address)
        if _is_address(url.hostname or ""):
            return [address]
        name, _, namespace = (url.hostname or "").partition(".")
        try:
            slices = await self._api.list(SLICES, namespace.partition(".")[0])
        except TidegateError as error:
            raise Unavailable(f"the istiods behind {address} can't be listed: {error.message}", error.hint) from error
        ready = [
            each["addresses"][0]
            for found in slices["items"]
            if found["metadata"].get("labels", {}).get(SERVICE_NAME) == name
            for each in found.get("endpoints") or ()
            if each.get("conditions", {}).get("ready", True)
        ]
        return [f"{url.scheme}://{host}:{url.port or 15014}" for host in sorted(set(ready))]

    async def _get(self, replica: str, path: str, query: dict[str, str]) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout)
        try:
            async with self._session.get(replica + path, params=query) as response:
                if response.status in (401, 403):
                    raise Unavailable(f"istiod {replica} wants to know who asks ({response.status})", WANTS_LOGIN)
                if response.status == HTTPStatus.NOT_FOUND:
                    return None
                response.raise_for_status()
                return await response.json(content_type=None)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unavailable(f"istiod {replica} does not answer: {error or type(error).__name__}") from error


WANTS_LOGIN = "without it nobody can say which proxies acknowledged; a step then waits for its settle time"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True
