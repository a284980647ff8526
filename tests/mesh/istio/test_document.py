"""Documents: which pieces of YAML are mesh documents, and where their fields stand."""

import pytest

from mesh.istio.document import GROUPS, read_documents, revision_of
from mesh.istio.problem import Place, Problem
from tests.support.doc_documents import SPLIT_ROUTE, document, documents, virtual_service


def test_fields() -> None:
    text = "# top\n" + virtual_service(SPLIT_ROUTE) + "---\n" + virtual_service(SPLIT_ROUTE, name="e")
    first, second = documents(text)
    assert first.text.decode() + second.text.decode() == text
    assert (first.kind, first.api_version, first.namespace, first.name) == (
        "VirtualService",
        "networking.istio.io/v1",
        "default",
        "translator",
    )
    assert second.key == ("VirtualService", "default", "e")
    assert (first.line_offset, second.line_offset) == (0, first.text.count(b"\n"))
    assert (first.offset, second.offset) == (0, len(first.text))
    assert second.revision == revision_of(second.text) != first.revision
    assert str(second) == "VirtualService default/e"


def test_the_namespace_is_default_when_none_is_given() -> None:
    text = virtual_service(SPLIT_ROUTE).replace(", namespace: default", "")
    assert document(text).namespace == "default"


def test_offsets_count_bytes_and_columns_count_characters() -> None:
    text = "# ☕☕☕\n" + virtual_service(SPLIT_ROUTE) + "---  # é\n" + virtual_service(SPLIT_ROUTE, hosts="[é, b]")
    second = documents(text)[1]
    assert text.encode()[second.offset :] == second.text
    assert second.place(("spec", "hosts", 1)).column == text.splitlines()[second.line_offset + 5].index("b]") + 1


def test_a_problem_knows_its_document_and_place() -> None:
    subject = document("\n" + virtual_service(SPLIT_ROUTE))
    assert subject.place() == Place(2, 1)
    assert subject.problem(("spec", "http", 0, "none"), "odd", "mend it") == Problem(
        "mesh.yaml", 8, 7, "odd", "mend it", ("VirtualService", "default", "translator")
    )


def test_documents_with_the_same_text_and_place_are_equal() -> None:
    text = virtual_service(SPLIT_ROUTE)
    assert document(text) == document(text)
    assert len({document(text), document(text)}) == 1
    assert document(text) != document(text + "# more\n")


@pytest.mark.parametrize("kind", sorted(GROUPS))
@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha3"])
def test_kinds(kind: str, version: str) -> None:
    found = document(f"apiVersion: {GROUPS[kind]}/{version}\nkind: {kind}\nmetadata: {{name: a}}\n")
    assert found.key == (kind, "default", "a")


HEAD = "apiVersion: networking.istio.io/v1\nkind: VirtualService\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("5\n", ["f:1:1: a document must be a mapping"], id="a number"),
        pytest.param("- a\n", ["f:1:1: a document must be a mapping"], id="a list"),
        pytest.param("{}\n", ["f:1:1: kind is missing", "f:1:1: metadata is missing"], id="nothing in it"),
        pytest.param("kind: [a]\nmetadata: {name: a}\n", ["f:1:1: kind is missing or not text"], id="kind is a list"),
        pytest.param("kind: a\nmetadata: {name: a}\n", ["f:1:1: apiVersion is missing"], id="no apiVersion"),
        pytest.param(
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
            ["f:2:1: v1 Service is no kind that this mesh runs (it runs DestinationRule, Gateway, PeerAuthentication,"],
            id="a kind of Kubernetes",
        ),
        pytest.param(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: a}\n",
            ["f:2:1: gateway.networking.k8s.io/v1 Gateway is no kind"],
            id="the other Gateway",
        ),
        pytest.param(
            "apiVersion: networking.istio.io/v1\nkind: EnvoyFilter\nmetadata: {name: a}\n",
            ["f:2:1: networking.istio.io/v1 EnvoyFilter is no kind"],
            id="a kind of Istio that is not run",
        ),
        pytest.param(
            "apiVersion: networking.istio.io/v9\nkind: Gateway\nmetadata: {name: a}\n",
            ["f:1:1: Gateway has no apiVersion networking.istio.io/v9 (write networking.istio.io/v1"],
            id="a version that does not exist",
        ),
        pytest.param(
            "apiVersion: security.istio.io/v1\nkind: Gateway\nmetadata: {name: a}\n",
            ["f:1:1: Gateway has no apiVersion security.istio.io/v1"],
            id="the wrong group",
        ),
        pytest.param(HEAD + "metadata: x\n", ["f:3:1: metadata is missing or not a mapping"], id="metadata is text"),
        pytest.param(HEAD + "metadata: {}\n", ["f:3:1: metadata.name is missing"], id="no name"),
        pytest.param(
            HEAD + "metadata: {name: A_b}\n", ["f:3:12: metadata.name 'A_b' must be lower-case"], id="an odd name"
        ),
        pytest.param(HEAD + "metadata: {name: 5}\n", ["f:3:12: metadata.name '5' must be"], id="a number as name"),
        pytest.param(
            HEAD + "metadata: {name: a/b, namespace: ''}\n",
            ["f:3:12: metadata.name 'a/b'", "f:3:23: metadata.namespace ''"],
            id="two mistakes at once",
        ),
        pytest.param(HEAD + "metadata: {name: a}\nkind: b\n", ["f:4:1: the key 'kind' appears twice"], id="two kinds"),
    ],
)
def test_problems(text: str, expected: list[str]) -> None:
    found, problems = read_documents("f", text.encode())
    assert found == []
    assert len(problems) == len(expected), problems
    for problem, beginning in zip(problems, expected, strict=True):
        assert str(problem).startswith(beginning)


def test_good_documents_come_beside_the_problems_of_others() -> None:
    text = (
        virtual_service(SPLIT_ROUTE)
        + "---\nkind: x\n---\n"
        + virtual_service(SPLIT_ROUTE, name="b")
        + "---\n{a: 1, a: 2}\n"
    )
    found, problems = read_documents("f", text.encode())
    assert [one.name for one in found] == ["translator", "b"]
    assert [problem.line for problem in problems] == sorted(problem.line for problem in problems)
    assert len(problems) == 3


def test_a_whole_file_problem_reads_without_a_line() -> None:
    assert str(Problem("f", 0, 0, "too long", "split it")) == "f: too long (split it)"
    assert str(Problem("f", 3, 4, "odd")) == "f:3:4: odd"


def test_of_very_many_mistakes_the_first_are_shown_with_how_many_more_there_are() -> None:
    _, problems = read_documents("f.yaml", b"---\na: 1\n" * 60_000)
    sentences = [str(problem) for problem in problems]
    assert len(sentences) == 102
    assert sentences[0] == "f.yaml: it has 33,232 more mistakes than are shown"
    assert sentences[1].startswith("f.yaml:2:1: kind is missing")
    assert "more than 50,000 values" in sentences[-1]
