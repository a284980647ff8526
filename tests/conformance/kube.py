"""How do documents come to the API server, and when has istiod taken them all?"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import aiohttp

from tests.conformance.stack import Stack

PLURALS = {
    "VirtualService": "virtualservices",
    "DestinationRule": "destinationrules",
    "Gateway": "gateways",
    "ServiceEntry": "serviceentries",
    "WorkloadEntry": "workloadentries",
    "Sidecar": "sidecars",
    "PeerAuthentication": "peerauthentications",
}
WITHIN_S = 60
_AT_ONCE = 12

Refusals = dict[tuple[str, str, str], str]
"""What the API server said to documents that it doesn't take, by kind, namespace and name."""


async def put(stack: Stack, documents: Sequence[dict[str, Any]]) -> Refusals:
    """Creates the documents and their namespaces; those of one namespace one after the other."""
    refusals: Refusals = {}
    turns = asyncio.Semaphore(_AT_ONCE)
    async with _session(stack) as session:

        async def create(group: list[dict[str, Any]]) -> None:
            async with turns:
                for each in group:
                    if why := await _create(session, stack, each):
                        refusals[_key(each)] = why

        async def create_namespace(name: str) -> None:
            async with turns:
                await _create_namespace(session, stack, name)

        names = sorted({each["metadata"]["namespace"] for each in documents})
        await asyncio.gather(*(create_namespace(name) for name in names))  # before all: who is older counts
        groups = itertools.groupby(documents, key=lambda each: each["metadata"]["namespace"])
        await asyncio.gather(*(create(list(group)) for _, group in groups))
    return refusals


async def _create_namespace(session: aiohttp.ClientSession, stack: Stack, name: str) -> None:
    """One that is there already stays as it is."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    async with session.post(f"{stack.api}/api/v1/namespaces", json=body) as answer:
        if answer.status != HTTPStatus.CONFLICT:
            answer.raise_for_status()


async def _create(session: aiohttp.ClientSession, stack: Stack, document: dict[str, Any]) -> str:
    url = _url(stack, document["apiVersion"], document["kind"], document["metadata"]["namespace"])
    async with session.post(url, json=document, params={"fieldValidation": "Strict"}) as answer:
        return "" if answer.ok else str((await answer.json())["message"])


async def clear(stack: Stack, documents: Sequence[dict[str, Any]]) -> None:
    """Removes what was put."""
    places = {(each["apiVersion"], each["kind"], each["metadata"]["namespace"]) for each in documents}
    async with _session(stack) as session:
        for api_version, kind, namespace in sorted(places):
            async with session.delete(_url(stack, api_version, kind, namespace)) as answer:
                answer.raise_for_status()


async def taken(stack: Stack, wanted: int) -> None:
    """Returns when istiod's store holds `wanted` documents. Raises TimeoutError."""
    deadline = time.monotonic() + WITHIN_S
    async with _session(stack) as session:
        while (count := await _stored(session, stack)) < wanted:
            if time.monotonic() > deadline:
                raise TimeoutError(f"istiod holds {count} of {wanted} documents after {WITHIN_S} s")
            await asyncio.sleep(0.2)


async def _stored(session: aiohttp.ClientSession, stack: Stack) -> int:
    async with session.get(f"{stack.debug}/debug/configz") as answer:
        found = await answer.json(content_type=None)
    kinds = Counter(each["kind"] for each in found)
    return sum(kinds[kind] for kind in PLURALS)


def _session(stack: Stack) -> aiohttp.ClientSession:
    headers = {"authorization": f"Bearer {stack.token}"}
    return aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(ssl=False))


def _url(stack: Stack, api_version: str, kind: str, namespace: str) -> str:
    return f"{stack.api}/apis/{api_version}/namespaces/{namespace}/{PLURALS[kind]}"


def _key(document: dict[str, Any]) -> tuple[str, str, str]:
    return document["kind"], document["metadata"]["namespace"], document["metadata"]["name"]
