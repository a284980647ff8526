"""How is Prometheus asked? Instant queries over HTTP, each with a deadline; its refusals and silences end here.

Instant queries with a range selector (`metric[45s]`) bring the samples themselves, each with the time of its scrape:
nothing is extrapolated, aligned or rounded.
"""

from datetime import datetime

import aiohttp

from control.adapters.prometheus.access import Access
from control.adapters.prometheus.answer import NoAnswer, Series, series_of
from control.errors import Unavailable

LARGEST = 64 * 1024 * 1024
AT_ONCE = 8
REFUSED_QUERY = (400, 422)


class PrometheusServer:
    """One Prometheus, or whatever speaks its API (Thanos, Mimir, VictoriaMetrics). It owns connections: `close` it."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(self, query: str, at: datetime) -> tuple[Series, ...]:
        """The answer to an instant query as of `at`. Raises QueryRefused, Unavailable."""
        form = {"query": query, "time": f"{at.timestamp():.3f}", "timeout": f"{self._access.timeout_s:g}"}
        try:
            return series_of(await self._post(form | {"partial_response": "false"}))
        except NoAnswer as error:
            raise self._unavailable(str(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            hint = "is it running, and is TIDEGATE_PROMETHEUS_URL its address?"
            raise self._unavailable(self._words(error), hint) from error

    async def _post(self, form: dict[str, str]) -> bytes:
        session = self._opened()
        async with session.post(
            self._access.endpoint("query"), data=form, headers=self._access.shown(), allow_redirects=False
        ) as response:
            body = await _body(response)
            if response.status not in (200, *REFUSED_QUERY):
                raise self._told(response)
            return body

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            tls = self._access.tls()
            connector = aiohttp.TCPConnector(limit=AT_ONCE, ssl=tls if tls is not None else True)
            timeout = aiohttp.ClientTimeout(total=self._access.timeout_s)
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout)
        return self._session

    def _told(self, response: aiohttp.ClientResponse) -> Unavailable:
        status = f"it answers {response.status} {response.reason}"
        if response.status in (401, 403):
            return self._unavailable(status, "are the credentials of TIDEGATE_PROMETHEUS_* right, and not expired?")
        if response.status in (301, 302, 303, 307, 308):
            place = response.headers.get("Location", "another address")
            return self._unavailable(f"{status}: {place}", "set TIDEGATE_PROMETHEUS_URL to where it leads")
        if response.status == 404:
            return self._unavailable(status, "does its API have a path prefix? It belongs into TIDEGATE_PROMETHEUS_URL")
        return self._unavailable(status)

    def _words(self, error: Exception) -> str:
        match error:
            case TimeoutError():
                return f"no answer within {self._access.timeout_s:g} s"
            case aiohttp.ClientConnectorCertificateError():
                return str(error.certificate_error)
            case aiohttp.ClientConnectorError():
                return (error.os_error.strerror or str(error.os_error)).lower()
            case _:
                return str(error) or type(error).__name__

    def _unavailable(self, words: str, hint: str = "") -> Unavailable:
        return Unavailable(f"Prometheus at {self._access.place} could not be asked: {words}", hint=hint)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_chunked(1 << 16):
        size += len(part)
        if size > LARGEST:
            raise NoAnswer(f"its answer is larger than {LARGEST >> 20} MiB")
        parts.append(part)
    return b"".join(parts)
