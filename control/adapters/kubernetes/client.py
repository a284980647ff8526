"""How do the command line's verbs work on a cluster? On the objects themselves, under the rights of whoever calls.

A `ShiftClient` without a controller behind it: what is read is the object's status, what is asked is written into the
object, and the controller's answer is waited for there. The controller's own rights are never lent to anybody.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from control.adapters.kubernetes.api import SELF_REVIEWS, TRAFFIC_SHIFTS, Gone, Json, KubeApi
from control.adapters.kubernetes.notes import BY, COMMAND, document_of
from control.api.model import ApplyResult, CommandResult, ShiftChange, ShiftDocument
from control.engine.command import Command
from control.engine.state import ShiftState, new_state
from control.errors import Conflict, NotFound, Refused, SpecError, TimedOut
from control.loop.commands import accept
from control.ports import Stored
from control.spec import from_document, read_draft, to_document

LOOK_EVERY_S = 0.2
TRIES = 5
QUIET_S = 90.0
OWN = ("state", "history", "accepted", "lastCommand")
"""Of a status, what is the controller's own business and no screen's."""
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
UNTAKEN = "no controller has taken the command yet"


class ClusterShiftClient:
    """The ShiftClient of a cluster. `timeout_s`: how long an answer of the controller is waited for."""

    def __init__(self, api: KubeApi, *, timeout_s: float) -> None:
        self._api = api
        self._timeout_s = timeout_s

    async def list(self, namespace: str = "") -> Sequence[ShiftDocument]:
        listed = await self._api.list(TRAFFIC_SHIFTS, namespace)
        return [shown(item) for item in listed["items"]]

    async def get(self, namespace: str, name: str) -> ShiftDocument:
        return shown(await self._item(namespace, name))

    async def watch(self, namespace: str = "", name: str = "") -> AsyncIterator[ShiftChange]:
        if name:
            await self._item(namespace, name)
        while True:
            listed = await self._api.list(TRAFFIC_SHIFTS, namespace)
            for item in listed["items"]:
                if name in ("", item["metadata"]["name"]):
                    yield ShiftChange(shown(item))
            try:
                async for change in self._changes(namespace, name, listed["metadata"]["resourceVersion"]):
                    yield change
            except Gone:
                continue

    async def apply(self, text: bytes, source: str, *, dry_run: bool = False) -> ApplyResult:
        """Checks the text as a controller would, then applies it under the caller's own name."""
        shift = read_draft(text, source).shift()
        document = to_document(shift)
        before = await self._found(*shift.key)
        path = TRAFFIC_SHIFTS.path(*shift.key)
        query = {"fieldManager": "tidegate-cli", "force": "true"} | ({"dryRun": "All"} if dry_run else {})
        item = await self._api.call("PATCH", path, body=document, query=query, content=APPLY)
        same = before is not None and before.get("spec") == item.get("spec")
        return ApplyResult(shown(item), "unchanged" if same else "changed" if before else "created")

    async def delete(self, namespace: str, name: str, *, dry_run: bool = False) -> str:
        await self._item(namespace, name)
        if dry_run:
            return "would: the shift is deleted; the controller first puts its traffic where onDelete says"
        await self._api.delete(TRAFFIC_SHIFTS, namespace, name)
        return "the shift is going: the controller first puts its traffic where onDelete says"

    async def command(self, namespace: str, name: str, command: Command, *, dry_run: bool = False) -> CommandResult:
        """Raises NotFound, Refused as the controller does, TimedOut when none answers."""
        item = await self._item(namespace, name)
        if dry_run:
            taken = accept(stored(item), command, datetime.now(UTC))
            return CommandResult(shown(item), f"would: {taken.sentence}")
        await self._ask(namespace, name, item, command)
        answered = await self._answer(namespace, name, command.id)
        answer = answered["status"]["lastCommand"]
        if answer.get("refused"):
            raise Refused(answer["outcome"])
        return CommandResult(shown(answered), answer["outcome"])

    async def history(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        item = await self._item(namespace, name)
        found: list[Json] = (item.get("status") or {}).get("history") or []
        return found[-limit if limit > 0 else 0 :]

    async def baseline(self, namespace: str, name: str) -> Mapping[str, Any]:
        raise Refused(
            f"the window of {namespace}/{name}'s baseline can't be read from here",
            hint="only the controller reaches Prometheus; leave the baseline out of the report",
        )

    async def version(self) -> str:
        """Whose API server this is: a controller tells its version in its log alone."""
        return f"on the cluster {self._api.server}"

    async def _item(self, namespace: str, name: str) -> Json:
        item = await self._found(namespace, name)
        if item is None:
            names = ", ".join(f"{each.namespace}/{each.name}" for each in await self.list())
            hint = f"there are: {names}" if names else "there is none; `tidegate apply FILE` makes one"
            raise NotFound(f"there is no TrafficShift {namespace}/{name}", hint=hint)
        return item

    async def _found(self, namespace: str, name: str) -> Json | None:
        try:
            return await self._api.get(TRAFFIC_SHIFTS, namespace, name)
        except NotFound:
            return None

    async def _changes(self, namespace: str, name: str, version: str) -> AsyncIterator[ShiftChange]:
        async for event in self._api.watch(TRAFFIC_SHIFTS, namespace, version, quiet_s=QUIET_S):
            item = event["object"]
            if event["type"] != "BOOKMARK" and name in ("", item["metadata"]["name"]):
                yield ShiftChange(shown(item), deleted=event["type"] == "DELETED")

    async def _ask(self, namespace: str, name: str, item: Json, command: Command) -> None:
        """Writes the command beside the caller's own name, as the API server knows it."""
        asked = {"id": command.id, "verb": command.verb.value, "expectStep": command.expect_step}
        text = json.dumps({name: value for name, value in {**asked, "reason": command.reason}.items() if value})
        annotations = {COMMAND: text, BY: await self._whoami()}
        for _ in range(TRIES):
            body = {"metadata": {"annotations": annotations, "resourceVersion": item["metadata"]["resourceVersion"]}}
            try:
                await self._api.call("PATCH", TRAFFIC_SHIFTS.path(namespace, name), body=body, content=MERGE)
                return
            except Conflict:
                item = await self._item(namespace, name)
        raise Conflict(f"{namespace}/{name} changes all the time", hint="try again")

    async def _whoami(self) -> str:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        review = await self._api.create(SELF_REVIEWS, "", body)
        return str(review["status"]["userInfo"]["username"])

    async def _answer(self, namespace: str, name: str, command_id: str) -> Json:
        """The object once the controller has answered in it."""
        try:
            async with asyncio.timeout(self._timeout_s):
                while True:
                    item = await self._item(namespace, name)
                    if (item.get("status") or {}).get("lastCommand", {}).get("id") == command_id:
                        return item
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            raise TimedOut(UNTAKEN, hint="it stays in the object until one does; does a controller run?") from None


def shown(item: Json) -> ShiftDocument:
    """The whole document as screens want it: the spec with its defaults, the status without the controller's own."""
    metadata, status = item["metadata"], item.get("status") or {}
    document = status.get("accepted") or _full(item)
    own = {name: value for name, value in status.items() if name not in OWN}
    return ShiftDocument(
        metadata["namespace"], metadata["name"], {**document, "status": own}, int(metadata["resourceVersion"])
    )


def _full(item: Json) -> Mapping[str, Any]:
    try:
        return to_document(from_document(document_of(item)))
    except SpecError:
        return document_of(item)


def stored(item: Json) -> Stored:
    """The shift as a controller has it."""
    metadata, status = item["metadata"], item.get("status") or {}
    spec = status.get("accepted") or to_document(from_document(document_of(item)))
    state = status.get("state") or new_state(from_document(spec)).to_json()
    ShiftState.from_json(state)
    return Stored(metadata["namespace"], metadata["name"], spec, state, int(metadata["resourceVersion"]))


@asynccontextmanager
async def cluster_client(where: str, context: str, *, timeout_s: float) -> AsyncIterator[ClusterShiftClient]:
    """A client of the cluster that a kubeconfig names. Raises Unavailable."""
    api = await KubeApi.connect(where, context, deadline_s=timeout_s)
    try:
        yield ClusterShiftClient(api, timeout_s=timeout_s)
    finally:
        await api.close()
