"""Snapshots: versions follow content, and what would leave an Envoy waiting is found."""

from mesh.xds.snapshot import Kind, Snapshot, inconsistencies, mentions, snapshot, version
from tests.support.ads_model import Thing, thing, things, world

EDS_CLUSTER = Thing("a", b"\x0a\x01a\x10\x03", "1")
STATIC_CLUSTER = Thing("a", b"\x0a\x01a\x10\x00", "2")


def test_a_version_follows_the_content_and_not_the_order() -> None:
    one, other = thing("a", "1"), thing("b", "2")
    assert version([one, other]) == version([other, one])
    assert version([one]) != version([thing("a", "2")]) != version([thing("b", "2")])


def test_kinds_have_versions_of_their_own() -> None:
    before = world({"c-red": "1"}, {"80": "c-red"})
    after = world({"c-red": "1"}, {"80": "c-red c-red"})
    assert [kind for kind in Kind if before.versions[kind] != after.versions[kind]] == [Kind.ROUTE]


def test_an_empty_snapshot_has_nothing_of_any_kind() -> None:
    assert all(not snapshot().of(kind) for kind in Kind)
    assert not Snapshot({}, {}).of(Kind.ROUTE)


def test_a_sound_snapshot_has_no_inconsistencies() -> None:
    assert inconsistencies(snapshot(clusters={"a": EDS_CLUSTER}, endpoints=things(a=""))) == []
    assert inconsistencies(snapshot(clusters={"a": STATIC_CLUSTER})) == []


def test_missing_endpoints_and_endpoints_of_nothing_are_found() -> None:
    problems = inconsistencies(snapshot(clusters={"a": EDS_CLUSTER}, endpoints=things(b="")))
    assert problems == [
        "endpoints for b, which is no cluster",
        "cluster a takes its endpoints from EDS, but has none",
    ]


def test_a_mention_is_the_name_in_the_bytes() -> None:
    assert mentions(thing("80", "c-red c-blue"), "c-blue")
    assert not mentions(thing("80", "c-red"), "c-blue")
