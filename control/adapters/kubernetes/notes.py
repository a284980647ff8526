"""What do people write into a TrafficShift's annotations, and what is it of the document that counts? Pure.

A command is one annotation, `tidegate.dev/command`: JSON with id, verb, expectStep and reason. Beside it
`tidegate.dev/command-by` names who gives it. Where the policy `tidegate-command-author` is in force the API server
has refused every name but the caller's own: then the actor is verified, else only claimed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from control.adapters.kubernetes.api import Json
from control.engine.command import Command
from control.engine.phase import Verb
from control.errors import Refused

PREFIX = "tidegate.dev/"
COMMAND, BY = f"{PREFIX}command", f"{PREFIX}command-by"
FINALIZER = f"{PREFIX}traffic"
VERIFIED, CLAIMED = "verified", "claimed"


@dataclass(frozen=True, slots=True)
class Note:
    """A command as somebody wrote it. `by` is the name that stands beside it."""

    text: str
    by: str


def note(item: Json) -> Note | None:
    """The command that stands in an object, if any does."""
    annotations = item["metadata"].get("annotations") or {}
    text = annotations.get(COMMAND)
    return None if text is None else Note(text, annotations.get(BY, ""))


def note_id(found: Note) -> str:
    """The command's id; its whole text when it has none, so that the same nonsense is answered once."""
    try:
        return str(json.loads(found.text)["id"])
    except (ValueError, KeyError, TypeError):
        return found.text[:100]


def command(found: Note, now: datetime, *, verified: bool) -> Command:
    """Raises Refused with what a command looks like."""
    try:
        asked: Mapping[str, Any] = json.loads(found.text)
        step = asked.get("expectStep")
        verb = Verb(asked["verb"])
        if not isinstance(asked["id"], str) or not (step is None or isinstance(step, int)):
            raise TypeError("id is text, expectStep a number")
        reason = str(asked.get("reason", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        verbs = ", ".join(each.value for each in Verb)
        hint = f'it is {{"id": "...", "verb": "...", "expectStep": 2, "reason": "..."}}; verbs: {verbs}'
        raise Refused(f"the annotation {COMMAND} is no command: {error}", hint) from error
    how = VERIFIED if verified and found.by else CLAIMED
    actor = f"{found.by or 'somebody'} ({how})"
    return Command(id=asked["id"], verb=verb, expect_step=step, actor=actor, reason=reason, at=now)


def document_of(item: Json) -> Json:
    """A TrafficShift as its author wrote it: without what the API server, other tools and commands add."""
    metadata = item["metadata"]
    own = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if name.startswith(PREFIX) and name not in (COMMAND, BY)
    }
    shown: Json = {"name": metadata["name"], "namespace": metadata["namespace"]}
    if own:
        shown["annotations"] = own
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": shown, "spec": item.get("spec") or {}}


def slim(item: Json) -> Json:
    """What is kept of an object: not who wrote which field, nor kubectl's copy of it all."""
    metadata = {name: value for name, value in item["metadata"].items() if name != "managedFields"}
    if "annotations" in metadata:
        metadata["annotations"] = {
            name: value for name, value in metadata["annotations"].items() if name.startswith(PREFIX)
        }
    return {**item, "metadata": metadata}


def is_going(item: Json) -> bool:
    """Has somebody deleted it?"""
    return "deletionTimestamp" in item["metadata"]


def finalizers(item: Json) -> list[str]:
    return list(item["metadata"].get("finalizers") or ())


def finalizer_patch(item: Json, wanted: list[str]) -> list[Json]:
    """Replaces the list if it is still what was seen."""
    now = item["metadata"].get("finalizers")
    path = "/metadata/finalizers"
    test = (
        {"op": "test", "path": path, "value": now}
        if now
        else {"op": "test", "path": "/metadata/resourceVersion", "value": item["metadata"]["resourceVersion"]}
    )
    return [test, {"op": "add", "path": path, "value": wanted}]
