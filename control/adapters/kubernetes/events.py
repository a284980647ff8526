"""What do people see of a shift in `kubectl get events` and in the log? Each entry of its journal, once."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog

from control.adapters.kubernetes.api import EVENTS, Json, KubeApi
from control.adapters.kubernetes.informer import Informer, Key
from control.errors import Conflict, TidegateError

WARNINGS = frozenset(
    {
        *("HarmFound", "BudgetSpent", "GuardBroken", "GaugeOut", "CanaryGone", "DeadlinePassed", "Failed", "Conflict"),
        *("Rejected", "StableGone", "RouteMissing", "DestinationMissing", "Parked", "StableOutage", "ForeignChange"),
    }
)
MOST_WAITING = 1000
MOST_NOTE = 1000


class EventRecorder:
    """Writes Events behind the loop's back: one that can't be written holds nothing up."""

    def __init__(self, api: KubeApi, shifts: Informer[Json], identity: str) -> None:
        self._api = api
        self._shifts = shifts
        self._identity = identity
        self._waiting: asyncio.Queue[tuple[Key, Mapping[str, Any]]] = asyncio.Queue(MOST_WAITING)
        self._log: Any = structlog.get_logger("control")

    def record(self, key: Key, entries: Sequence[Mapping[str, Any]]) -> None:
        for entry in entries:
            self._log.info("history", shift="/".join(key), **entry)
            if not self._waiting.full():
                self._waiting.put_nowait((key, entry))

    async def run(self) -> None:
        while True:
            key, entry = await self._waiting.get()
            item = self._shifts.objects.get(key)
            if item is None:
                continue
            try:
                await self._api.create(EVENTS, key[0], event(item, entry, self._identity))
            except Conflict:
                pass  # written before, by this controller or the one that led before it
            except TidegateError as error:
                self._log.warning("event not written", shift="/".join(key), why=error.message)


def event(item: Json, entry: Mapping[str, Any], identity: str) -> Json:
    """An Event about a TrafficShift. Its name is made of the entry's number, so that it is written once."""
    metadata = item["metadata"]
    at = datetime.fromisoformat(str(entry["at"]).replace("Z", "+00:00")).astimezone(UTC)
    reason = str(entry["reason"])
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name']}.{metadata['uid'][:8]}.{entry['seq']}",
            "namespace": metadata["namespace"],
        },
        "eventTime": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": "tidegate.dev/controller",
        "reportingInstance": identity[:128] or "tidegate",
        "action": "Decide",
        "reason": reason[:128],
        "regarding": {
            "apiVersion": item["apiVersion"],
            "kind": item["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
        },
        "note": str(entry["sentence"])[:MOST_NOTE],
        "type": "Warning" if reason in WARNINGS else "Normal",
    }
