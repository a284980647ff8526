"""What people write into a TrafficShift's annotations."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from control.adapters.kubernetes.notes import (
    BY,
    COMMAND,
    FINALIZER,
    Note,
    command,
    document_of,
    finalizer_patch,
    note,
    note_id,
    slim,
)
from control.engine.phase import Verb
from control.errors import Refused

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def item(**annotations: str) -> dict[str, Any]:
    metadata = {"name": "cart", "namespace": "shop", "resourceVersion": "9", "annotations": annotations}
    return {"apiVersion": "tidegate.dev/v1alpha1", "kind": "TrafficShift", "metadata": metadata, "spec": {"a": 1}}


def test_an_object_without_a_command_has_none() -> None:
    assert note(item()) is None


@pytest.mark.parametrize(
    ("by", "verified", "actor"),
    [("alice", True, "alice (verified)"), ("alice", False, "alice (claimed)"), ("", True, "somebody (claimed)")],
)
def test_an_actor_is_verified_only_where_the_api_server_vouches(by: str, verified: bool, actor: str) -> None:
    text = json.dumps({"id": "1", "verb": "promote", "expectStep": 2, "reason": "why"})
    found = note(item(**{COMMAND: text, BY: by}))
    assert found is not None
    taken = command(found, NOW, verified=verified)
    assert (taken.actor, taken.verb, taken.expect_step, taken.reason) == (actor, Verb.PROMOTE, 2, "why")


@pytest.mark.parametrize(
    "text",
    ["", "promote", "[]", "{}", '{"id": 1, "verb": "promote"}', '{"id": "1", "verb": "explode"}',
     '{"id": "1", "verb": "promote", "expectStep": "two"}'],
)  # fmt: skip
def test_nonsense_is_refused_with_what_a_command_looks_like(text: str) -> None:
    with pytest.raises(Refused) as caught:
        command(Note(text, "alice"), NOW, verified=True)
    assert "verbs: promote" in caught.value.hint


def test_nonsense_is_answered_once() -> None:
    assert note_id(Note("promote", "")) == "promote"
    assert note_id(Note('{"id": "7"}', "")) == "7"


def test_a_document_is_what_its_author_wrote() -> None:
    found = document_of(item(**{"tidegate.dev/hands-off": "true", COMMAND: "x", BY: "y", "other/tool": "z"}))
    assert found["metadata"] == {
        "name": "cart",
        "namespace": "shop",
        "annotations": {"tidegate.dev/hands-off": "true"},
    }


def test_what_is_kept_of_an_object_is_small() -> None:
    whole = item(**{"kubectl.kubernetes.io/last-applied-configuration": "long", COMMAND: "x"})
    whole["metadata"]["managedFields"] = [{}]
    assert slim(whole)["metadata"]["annotations"] == {COMMAND: "x"}
    assert "managedFields" not in slim(whole)["metadata"]


def test_finalizers_are_changed_only_where_they_are_what_was_seen() -> None:
    bare = item()
    assert finalizer_patch(bare, [FINALIZER])[0]["path"] == "/metadata/resourceVersion"
    bare["metadata"]["finalizers"] = ["x", FINALIZER]
    assert finalizer_patch(bare, ["x"]) == [
        {"op": "test", "path": "/metadata/finalizers", "value": ["x", FINALIZER]},
        {"op": "add", "path": "/metadata/finalizers", "value": ["x"]},
    ]
