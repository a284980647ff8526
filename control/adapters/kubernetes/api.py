"""How is the API server spoken to? Plain JSON over the library's client, with its errors in our terms.

Objects stay dictionaries: a typed client knows neither Istio's kinds nor ours, and reading a pod into the library's
classes takes longer than a whole look at a shift.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio import client, config
from kubernetes.aio.client.exceptions import ApiException

from control.errors import Conflict, NotFound, Refused, Rejected, TidegateError, Unavailable

Json = dict[str, Any]
JSON_PATCH = "application/json-patch+json"
MANAGER = "tidegate"
IN_CLUSTER = "in-cluster"


class Gone(TidegateError):
    """The API server no longer has what happened since then: list again."""

    code = "gone"
    exit_code = 1


class Overtaken(Conflict):
    """Others wrote into the object, again and again, while the API server was about to: the same call may succeed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object. `group` is empty for the core's own."""

    group: str
    version: str
    plural: str

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Example: Kind("", "v1", "pods").path("default") is /api/v1/namespaces/default/pods."""
        root = f"/apis/{self.group}" if self.group else "/api"
        parts = [root, self.version, *(["namespaces", namespace] if namespace else []), self.plural, name, subresource]
        return "/".join(part for part in parts if part)


TRAFFIC_SHIFTS = Kind("tidegate.dev", "v1alpha1", "trafficshifts")
VIRTUAL_SERVICES = Kind("networking.istio.io", "v1", "virtualservices")
DESTINATION_RULES = Kind("networking.istio.io", "v1", "destinationrules")
SERVICE_ENTRIES = Kind("networking.istio.io", "v1", "serviceentries")
WORKLOAD_ENTRIES = Kind("networking.istio.io", "v1", "workloadentries")
PODS = Kind("", "v1", "pods")
SERVICES = Kind("", "v1", "services")
EVENTS = Kind("events.k8s.io", "v1", "events")
POLICIES = Kind("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
BINDINGS = Kind("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings")
SELF_REVIEWS = Kind("authentication.k8s.io", "v1", "selfsubjectreviews")
ACCESS_REVIEWS = Kind("authorization.k8s.io", "v1", "selfsubjectaccessreviews")


class KubeApi:
    """One connection pool to one API server. `deadline_s` ends every call but a watch."""

    def __init__(self, library: client.ApiClient, deadline_s: float) -> None:
        self.library = library
        self._deadline_s = deadline_s

    @classmethod
    async def connect(cls, where: str, context: str = "", *, deadline_s: float = 10.0) -> "KubeApi":
        """`where` is "in-cluster", or the path of a kubeconfig (empty: the usual one). Raises Unavailable."""
        configuration = client.Configuration()
        try:
            if where == IN_CLUSTER:
                config.load_incluster_config(client_configuration=configuration)
            else:
                await config.load_kube_config(where or None, context or None, configuration)
        except (config.ConfigException, OSError) as error:
            raise Unavailable(f"no cluster is known: {error}", hint="set KUBECONFIG, or give --kubeconfig") from error
        return cls(client.ApiClient(configuration), deadline_s)

    async def close(self) -> None:
        await self.library.close()

    @property
    def server(self) -> str:
        return str(self.library.configuration.host)

    async def get(self, kind: Kind, namespace: str, name: str) -> Json:
        return await self.call("GET", kind.path(namespace, name))

    async def list(self, kind: Kind, namespace: str = "") -> Json:
        """The whole list, with the version that a watch goes on from."""
        return await self.call("GET", kind.path(namespace))

    async def create(self, kind: Kind, namespace: str, body: Json) -> Json:
        return await self.call("POST", kind.path(namespace), body=body, query={"fieldManager": MANAGER})

    async def patch(
        self, kind: Kind, namespace: str, name: str, operations: Sequence[Mapping[str, Any]], *, subresource: str = ""
    ) -> Json:
        """A JSON Patch. A failed `test` is a Conflict."""
        path = kind.path(namespace, name, subresource)
        query = {"fieldManager": MANAGER}
        return await self.call("PATCH", path, body=list(operations), query=query, content=JSON_PATCH)

    async def delete(self, kind: Kind, namespace: str, name: str) -> Json:
        return await self.call("DELETE", kind.path(namespace, name))

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        content: str = "application/json",
    ) -> Json:
        """The answer's JSON. Raises NotFound, Conflict, Rejected, Refused, Unavailable."""
        response = await self._response(method, path, query or {}, body, content, self._deadline_s)
        try:
            text = await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise _unreachable(self.server, error) from error
        if response.status >= 400:
            raise failure(response.status, text.decode(errors="replace"), path)
        found: Json = json.loads(text)
        return found

    async def watch(self, kind: Kind, namespace: str, version: str, *, quiet_s: float) -> AsyncIterator[Json]:
        """Events since `version`, bookmarks among them, until the server ends the stream. Raises Gone, Unavailable.

        A stream on which nothing comes for longer than a bookmark takes is given up: its connection may be dead.
        """
        query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._deadline_s, sock_read=quiet_s)
        response = await self._response("GET", kind.path(namespace), query, None, "application/json", timeout)
        try:
            if response.status >= 400:
                raise failure(response.status, (await response.read()).decode(errors="replace"), kind.plural)
            async for line in response.content:
                yield _event(json.loads(line))
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _unreachable(self.server, error) from error
        finally:
            response.close()

    async def _response(
        self, method: str, path: str, query: Mapping[str, str], body: Any, content: str, timeout: Any
    ) -> Any:
        headers = {"Accept": "application/json", "Content-Type": content, "User-Agent": MANAGER}
        url = self.server + path + (f"?{urlencode(query)}" if query else "")
        try:
            await self.library.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
            answer = await self.library.call_api(method, url, headers, body, None, timeout)
        except (aiohttp.ClientError, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise _unreachable(self.server, error) from error
        except ApiException as error:
            raise failure(error.status or 0, str(error.body or error.reason), path) from error
        return answer.response


def failure(status: int, text: str, what: str) -> TidegateError:
    """What an answer of the API server means to us: who must act."""
    said = _message(text) or f"HTTP {status}"
    match status:
        case 404:
            return NotFound(said)
        case 409:
            return Overtaken(said, hint="read it again")
        case 412:
            return Conflict(said, hint="read it again")
        case 410:
            return Gone(said)
        case 422 if _is_test(text):
            return Conflict(said, hint="read it again")
        case 401 | 403:
            return Refused(said, hint="which rights are missing: kubectl auth can-i --list")
        case 400 | 405 | 413 | 415 | 422:
            return Rejected(said)
        case _:
            return Unavailable(f"the API server answered {status} for {what}: {said}")


def _is_test(text: str) -> bool:
    """A JSON Patch whose `test` failed. The server names no field then, as it does for a value that it refuses."""
    return "testing path" in text or "test failed" in text or "the server rejected our request" in text


def _message(text: str) -> str:
    try:
        return str(json.loads(text).get("message", ""))[:500]
    except (ValueError, AttributeError):
        return text.strip()[:500]


def _event(event: Json) -> Json:
    if event.get("type") == "ERROR":
        status = event.get("object", {})
        raise failure(int(status.get("code", 0)), json.dumps(status), "watch")
    return event


def _unreachable(server: str, error: Exception) -> Unavailable:
    return Unavailable(f"the API server {server} does not answer: {error or type(error).__name__}")
