"""Tools that write without end into the same VirtualService, each an annotation of its own."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from control.local.cluster.running import Cluster

MERGE = {"content-type": "application/merge-patch+json"}


@dataclass
class Writers:
    """`written` are writes that the API server took, `refused` those that it did not."""

    written: int = 0
    refused: int = 0


@asynccontextmanager
async def writers(cluster: Cluster, name: str, number: int) -> AsyncIterator[Writers]:
    """So many of them at once, each about once a second, until the context ends."""
    made, place = Writers(), cluster.places
    token = place.tokens.read_text().partition(",")[0]
    url = f"https://{place.api_server}/apis/networking.istio.io/v1/namespaces/default/virtualservices/{name}"
    headers = {"authorization": f"Bearer {token}", **MERGE}
    connections = aiohttp.TCPConnector(limit=number, ssl=False)
    async with aiohttp.ClientSession(headers=headers, connector=connections) as session:
        tasks = [asyncio.ensure_future(_write(session, url, each, made)) for each in range(number)]
        try:
            yield made
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _write(session: aiohttp.ClientSession, url: str, number: int, made: Writers) -> None:
    luck, count = random.Random(number), 0
    while True:
        count += 1
        body = json.dumps({"metadata": {"annotations": {f"example.com/writer-{number}": str(count)}}})
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with session.patch(url, data=body) as response:
                made.written += response.status == 200
                made.refused += response.status != 200
        await asyncio.sleep(2 * luck.random())
