"""World: which version of each document is live after a folder has changed."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesh.istio.document import Document
from mesh.istio.problem import Problem
from mesh.istio.world import EMPTY, Content, Unreadable, World, changed, merge


def rule(name: str, *, uses: str = "", gives: str = "", more: str = "") -> str:
    """A document that uses some subsets and gives others (in words that `check` below understands)."""
    return (
        f"---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: {name}}}\n"
        f"spec: {{uses: [{uses}], gives: [{gives}]{more}}}\n"
    )


def check(documents: Sequence[Document]) -> list[Problem]:
    """A mesh that wants every used name given by somebody, and no field `bad`."""
    given = {name for document in documents for name in document.data["spec"]["gives"]}
    return [
        *(
            document.problem(("spec", "uses"), f"nobody gives {name}")
            for document in documents
            for name in document.data["spec"]["uses"]
            if name not in given
        ),
        *(document.problem(("spec", "bad"), "bad") for document in documents if "bad" in document.data["spec"]),
    ]


def world(*states: dict[str, str] | dict[str, Unreadable] | dict[str, str | Unreadable]) -> World:
    """The world after the folder went through these states."""
    now = EMPTY
    for files in states:
        now = merge(now, {file: content(text) for file, text in files.items()}, check)
    return now


def content(text: str | Unreadable) -> Content:
    return text.encode() if isinstance(text, str) else text


def live(now: World) -> dict[str, str]:
    return {document.name: document.text.decode() for document in now.documents}


def sentences(now: World) -> list[str]:
    return [str(problem) for problem in now.problems]


def test_what_can_not_be_read_keeps_its_last_good_version() -> None:
    before = {"a.yaml": rule("a"), "sub/b.yaml": rule("b"), "sub/c/d.yaml": rule("d"), "e.yaml": rule("e")}
    pipe, locked = Unreadable("not a regular file"), Unreadable("can't be listed: Permission denied")
    now = world(before, {"a.yaml": pipe, "sub": locked})
    assert live(now) == {name: rule(name) for name in ("a", "b", "d")}
    assert sentences(now) == [
        "a.yaml: not a regular file (its documents stay as they were)",
        "sub: can't be listed: Permission denied (its documents stay as they were)",
    ]
    after = merge(now, {"a.yaml": b""}, check)
    assert (live(after), after.problems) == ({}, ())


def test_documents_come_in_the_order_of_files_and_places() -> None:
    now = world({"b.yaml": rule("one"), "a.yaml": rule("two") + rule("three")})
    assert [document.name for document in now.documents] == ["two", "three", "one"]
    assert now.problems == ()


BROKEN = "---\napiVersion: networking.istio.io/v1\n\tkind"


@pytest.mark.parametrize(
    ("before", "after", "expected", "problems"),
    [
        pytest.param(
            {"a": rule("a", gives="x"), "b": rule("b")},
            {"a": BROKEN, "b": rule("b", uses="x")},
            {"a": rule("a", gives="x"), "b": rule("b", uses="x")},
            ["a:3:1: not valid YAML"],
            id="a broken file keeps its last good text while others apply",
        ),
        pytest.param(
            {"a": rule("a") + rule("b")},
            {"a": rule("a", gives="x") + BROKEN},
            {"a": rule("a", gives="x"), "b": rule("b")},
            ["a:8:1: not valid YAML"],
            id="a broken document does not hold back its neighbour in the file",
        ),
        pytest.param(
            {"a": rule("a") + rule("b")},
            {"a": rule("a")},
            {"a": rule("a")},
            [],
            id="a document that was taken out goes",
        ),
        pytest.param({"a": rule("a"), "b": rule("b")}, {"b": rule("b")}, {"b": rule("b")}, [], id="a file that goes"),
        pytest.param(
            {"a": rule("a")},
            {"a": rule("a", more=", bad: 1")},
            {"a": rule("a")},
            ["a:5:29: bad"],
            id="a refused document keeps its last good version",
        ),
        pytest.param(
            {},
            {"a": rule("a", more=", bad: 1"), "b": rule("b")},
            {"b": rule("b")},
            ["a:5:29: bad"],
            id="a refused document that was never good is not there",
        ),
        pytest.param(
            {"a": rule("a", gives="x")},
            {"a": rule("a", gives="x, y"), "b": rule("b", uses="y")},
            {"a": rule("a", gives="x, y"), "b": rule("b", uses="y")},
            [],
            id="a new name and its user come in one write",
        ),
        pytest.param(
            {"a": rule("a", gives="x"), "b": rule("b", uses="x")},
            {"a": rule("a", gives="y"), "b": rule("b", uses="y")},
            {"a": rule("a", gives="y"), "b": rule("b", uses="y")},
            [],
            id="a renamed name in one write",
        ),
        pytest.param(
            {"a": rule("a", gives="x"), "b": rule("b")},
            {"a": rule("a", gives="x, y", more=", bad: 1"), "b": rule("b", uses="y")},
            {"a": rule("a", gives="x"), "b": rule("b")},
            ["a:5:33: bad", "b:5:8: nobody gives y"],
            id="the user of a refused name is refused too",
        ),
        pytest.param(
            {"a": rule("a", gives="x"), "b": rule("b", uses="x"), "c": rule("c")},
            {"a": rule("a"), "b": rule("b", uses="x"), "c": rule("c", gives="z")},
            {"a": rule("a", gives="x"), "b": rule("b", uses="x"), "c": rule("c", gives="z")},
            ["a: its changes are not applied, because then: b:5:8: nobody gives x (change both together)"],
            id="a change that would break another document is held back, others apply",
        ),
        pytest.param(
            {"a": rule("a", gives="x"), "b": rule("b", uses="x")},
            {"b": rule("b", uses="x")},
            {"a": rule("a", gives="x"), "b": rule("b", uses="x")},
            ["a: its changes are not applied, because then: b:5:8: nobody gives x (change both together)"],
            id="what others use does not go with its file",
        ),
        pytest.param(
            {"a": rule("a", gives="x"), "b": rule("b", uses="x"), "z": rule("z")},
            {"a": rule("a", gives="q"), "b": rule("b", uses="x"), "c": rule("c", uses="y"), "z": rule("z", gives="y")},
            {
                "a": rule("a", gives="x"),
                "b": rule("b", uses="x"),
                "c": rule("c", uses="y"),
                "z": rule("z", gives="y"),
            },
            ["a: its changes are not applied"],
            id="files that fit only after another one are tried again",
        ),
        pytest.param(
            {"a": rule("a")},
            {"a": rule("a"), "b": rule("a", gives="x")},
            {"a": rule("a")},
            ["b:2:1: VirtualService default/a is already in a:2"],
            id="the same document in two files: the one that lives stays",
        ),
        pytest.param(
            {"b": rule("a")},
            {"a": rule("a", gives="x"), "b": rule("a")},
            {"a": rule("a")},
            ["a:2:1: VirtualService default/a is already in b:2"],
            id="the same document in two files: whatever the files are called",
        ),
        pytest.param(
            {},
            {"a": rule("a") + rule("a", gives="x")},
            {"a": rule("a")},
            ["a:7:1: VirtualService default/a is already in a:2"],
            id="twice in one file: the first counts",
        ),
        pytest.param(
            {"a": rule("a")},
            {"b": rule("a", gives="x")},
            {"a": rule("a", gives="x")},
            [],
            id="a document may move to another file",
        ),
        pytest.param(
            {"a": rule("a")},
            {"a": rule("a"), "b": "kind: Deployment\napiVersion: apps/v1\n"},
            {"a": rule("a")},
            ["b:1:1: apps/v1 Deployment is no kind", "b:1:1: metadata is missing"],
            id="what is no mesh document is named and nothing else happens",
        ),
    ],
)
def test_merge(before: dict[str, str], after: dict[str, str], expected: dict[str, str], problems: list[str]) -> None:
    now = world(before, after)
    assert live(now) == expected
    found = sentences(now)
    assert len(found) == len(problems), found
    for sentence, beginning in zip(found, problems, strict=True):
        assert sentence.startswith(beginning)


def test_a_refused_document_comes_in_once_it_is_mended() -> None:
    states = [{"a": rule("a")}, {"a": rule("a", more=", bad: 1")}, {"a": rule("a", gives="x")}]
    assert live(world(*states)) == {"a": rule("a", gives="x")}
    assert world(*states).problems == ()


def test_a_held_back_file_comes_in_with_the_other_half() -> None:
    now = world(
        {"a": rule("a", gives="x"), "b": rule("b", uses="x")},
        {"a": rule("a"), "b": rule("b", uses="x")},
        {"a": rule("a"), "b": rule("b")},
    )
    assert (live(now), now.problems) == ({"a": rule("a"), "b": rule("b")}, ())


def test_merging_the_same_files_again_changes_nothing() -> None:
    files = {"a": rule("a", gives="x"), "b": rule("b", uses="x") + BROKEN}
    assert world(files, files) == world(files)


def test_an_unchanged_file_is_not_read_again() -> None:
    first = world({"a": rule("a"), "b": rule("b")})
    second = merge(first, {"a": rule("a").encode(), "b": rule("b", gives="x").encode()}, check)
    assert second.files["a"] is first.files["a"]
    assert changed(first, second) == (("VirtualService", "default", "b"),)


def test_changed_names_what_came_and_went() -> None:
    assert changed(world({"a": rule("a")}), world({"b": rule("b")})) == (
        ("VirtualService", "default", "a"),
        ("VirtualService", "default", "b"),
    )


@pytest.mark.parametrize(
    ("line", "live_names"),
    [
        pytest.param(0, set[str](), id="a problem of the whole file is about all its documents"),
        pytest.param(2, {"two"}, id="a line in the first"),
        pytest.param(9, {"one"}, id="a line in the second"),
        pytest.param(99, set[str](), id="a line of nobody holds back the file that brings it"),
    ],
)
def test_a_problem_that_names_no_document_is_about_those_on_its_line(line: int, live_names: set[str]) -> None:
    def complain(documents: Sequence[Document]) -> list[Problem]:
        names = {document.name for document in documents}
        known = names == {"one", "two"}
        return [Problem("a", line, 1, "complaint")] if known else []

    now = merge(EMPTY, {"a": (rule("one") + rule("two")).encode()}, complain)
    assert {document.name for document in now.documents} == live_names
    assert "complaint" in sentences(now)[0]


def test_what_was_wrong_before_stays_reported_and_blocks_nothing() -> None:
    def stricter(documents: Sequence[Document]) -> list[Problem]:
        return [Problem("old", 1, 1, "no longer allowed", "", ("VirtualService", "default", "old"))]

    before = world({"old": rule("old")})
    now = merge(before, {"old": rule("old").encode(), "new": rule("new").encode()}, stricter)
    assert {document.name for document in now.documents} == {"old", "new"}
    assert sentences(now) == ["old:1:1: no longer allowed"]


names = st.sampled_from(["x", "y", "z"])
rules = st.builds(
    lambda name, uses, gives, bad: rule(
        name, uses=", ".join(uses), gives=", ".join(gives), more=", bad: 1" if bad else ""
    ),
    st.sampled_from(["one", "two", "three"]),
    st.lists(names, max_size=1),
    st.lists(names, max_size=2),
    st.booleans(),
)
texts = st.lists(rules | st.just(BROKEN), max_size=3).map("".join)
folders = st.dictionaries(st.sampled_from(["a", "b", "c"]), texts, max_size=3)


@given(st.lists(folders, max_size=5))
def test_whatever_happens_to_a_folder_the_live_documents_fit_together(states: list[dict[str, str]]) -> None:
    now, offered = EMPTY, set[bytes]()
    for files in states:
        before = now
        raw = {file: text.encode() for file, text in files.items()}
        now = merge(before, raw, check)
        offered |= {document.text for reading in now.files.values() for document in reading.documents}
        assert check(now.documents) == []
        assert len(now.by_key()) == len(now.documents)
        assert {document.text for document in now.documents} <= offered
        assert merge(now, raw, check).documents == now.documents
        found = [document for reading in now.files.values() for document in reading.documents]
        if not check(found) and len({document.key for document in found}) == len(found):
            assert {document.text for document in found} <= {document.text for document in now.documents}
