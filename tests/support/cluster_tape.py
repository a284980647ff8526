"""Everything that is written to VirtualServices and TrafficShifts while a story runs, in order, as etcd has it.

The API server may be away, restarted or made to forget: that is the story. So the tape is taken at etcd itself, whose
revisions order the writes of both kinds: whether a state was written before the weights that it is to explain is a
comparison of two numbers.
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import aiohttp

from tests.support.mesh_wait import until

ROUTES, SHIFTS = "/registry/networking.istio.io/virtualservices/", "/registry/tidegate.dev/trafficshifts/"
OURS = "tidegate"
ROUNDING = Fraction(1, 200)
LONGEST_LINE = 2**24


@dataclass(frozen=True)
class Written:
    """One version of an object, at etcd's revision. `item` is None where it was deleted."""

    revision: int
    key: str
    item: Mapping[str, Any] | None


@dataclass
class Tape:
    """What was written since the tape ran, oldest first. `problems` keep it from being whole."""

    written: list[Written] = field(default_factory=list)
    runs: asyncio.Event = field(default_factory=asyncio.Event)
    problems: list[str] = field(default_factory=list)

    def shares(self, name: str, namespace: str = "default") -> list[Fraction]:
        """The canary's share in a VirtualService, each time that it changed, whoever changed it."""
        found: list[Fraction] = []
        for each in self._of(f"{ROUTES}{namespace}/{name}"):
            share = canary_share(each)
            if found[-1:] != [share]:
                found.append(share)
        return found

    def unsaid(self) -> list[str]:
        """Weights of ours that no state had said when they were written; none is how it must be."""
        said: dict[str, Fraction] = {}
        before: dict[str, Fraction] = {}
        found = list(self.problems)
        for each in self.written:
            if each.item is None:
                continue
            if each.key.startswith(SHIFTS):
                said |= _said(each.item)
            elif each.key.startswith(ROUTES):
                name, share = each.key.removeprefix(ROUTES), canary_share(each.item)
                ours = writer(each.item) == OURS and share != before.get(name, share)
                if ours and abs(said.get(name, Fraction(-1)) - share) > ROUNDING:
                    found.append(f"{each.revision}: {name} {share}, state said {said.get(name)}")
                before[name] = share
        return found

    def _of(self, key: str) -> Iterator[Mapping[str, Any]]:
        return (each.item for each in self.written if each.key == key and each.item is not None)


def canary_share(item: Mapping[str, Any]) -> Fraction:
    """What the second destination has of both."""
    weights = [each.get("weight", 0) for each in item["spec"]["http"][0]["route"]]
    stable, canary = (*weights, 0)[:2]
    return Fraction(canary, stable + canary) if stable + canary else Fraction(0)


def writer(item: Mapping[str, Any]) -> str:
    """Who changed the routes last: the list of them is one value to the API server, and has one owner."""
    owners = [
        each["manager"]
        for each in item["metadata"].get("managedFields", ())
        if "f:http" in each.get("fieldsV1", {}).get("f:spec", {})
    ]
    return owners[0] if len(owners) == 1 else ""


def _said(item: Mapping[str, Any]) -> dict[str, Fraction]:
    """The share that a shift's state gives the canary, by the VirtualServices that it writes."""
    state = (item.get("status") or {}).get("state")
    if not state:
        return {}
    namespace, routes = item["metadata"]["namespace"], item["spec"]["target"]["routes"]
    return {f"{namespace}/{each['virtualService']}": Fraction(state.get("share", "0")) for each in routes}


@asynccontextmanager
async def tape(etcd: str) -> AsyncIterator[Tape]:
    """A tape that runs until the context ends. `etcd` is its address."""
    made = Tape()
    task = asyncio.ensure_future(_record(etcd, made))
    try:
        await until(made.runs.is_set, within_s=30, what="the tape runs")
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _record(etcd: str, made: Tape) -> None:
    last = 0
    while True:  # etcd may be away for a while; it still has what came meanwhile
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async for result in _answers(etcd, last + 1 if last else 0):
                last = max(last, int(result["header"]["revision"]))
                made.runs.set()
                if result.get("canceled"):
                    made.problems.append(f"the tape was cut: {result}")
                    return
                made.written += [_written(event) for event in result.get("events", ())]
        await asyncio.sleep(0.1)


async def _answers(etcd: str, since: int) -> AsyncIterator[Mapping[str, Any]]:
    begin, end = ROUTES, SHIFTS[:-1] + "0"
    wanted: dict[str, Any] = {"key": _text(begin), "range_end": _text(end)}
    if since:
        wanted["start_revision"] = since
    timeout = aiohttp.ClientTimeout(total=None)
    async with (
        aiohttp.ClientSession(timeout=timeout, read_bufsize=LONGEST_LINE) as session,
        session.post(f"http://{etcd}/v3/watch", data=json.dumps({"create_request": wanted})) as response,
    ):
        async for line in response.content:
            yield json.loads(line)["result"]


def _text(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


def _written(event: Mapping[str, Any]) -> Written:
    kv = event["kv"]
    key = base64.b64decode(kv["key"]).decode()
    is_ours = key.startswith((ROUTES, SHIFTS)) and "value" in kv
    item = json.loads(base64.b64decode(kv["value"])) if is_ours else None
    return Written(int(kv["mod_revision"]), key, item)


async def compact(etcd: str) -> int:
    """Makes etcd forget all revisions but the newest. Returns that one."""
    async with aiohttp.ClientSession() as session:
        async with session.post(f"http://{etcd}/v3/kv/range", data=json.dumps({"key": _text("/")})) as response:
            revision = int((await response.json(content_type=None))["header"]["revision"])
        body = json.dumps({"revision": revision, "physical": True})
        async with session.post(f"http://{etcd}/v3/kv/compaction", data=body) as response:
            response.raise_for_status()
    return revision
