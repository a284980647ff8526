"""Laws of reading: any bytes give an answer, and what was written is what is read."""

import json
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from mesh.istio.document import read_documents
from mesh.istio.yaml_text import read_yaml

HEAD = "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: a}\n"
MARKS = [
    "---\n",
    "...\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "'",
    '"',
    "&x ",
    "*x",
    "<<: ",
    "!!int ",
    "!x ",
    "? ",
    "|\n",
    ">-\n",
]
REST = [
    "a",
    "b: ",
    "- ",
    "\n",
    "\r\n",
    "  ",
    "\t",
    "# c\n",
    "%YAML 1.1\n",
    "é",
    "\u2028",
    "\ufeff",
    "5",
    "~",
    "\x00",
    HEAD,
]
CRUMBS = st.sampled_from([*MARKS, *REST])
scraps = st.lists(CRUMBS, max_size=30).map("".join)
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=8)
data = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words.filter(bool), inner, max_size=4),
    max_leaves=20,
)


@given(st.binary(max_size=200) | scraps.map(str.encode))
@example(b"a: 1\n...\n---\n*x")
@example(b"\xef\xbb\xbf---\n\ta")
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    documents, problems = read_documents("f", raw)
    assert problems == sorted(problems)
    ends = 0
    for document in documents:
        assert document.offset >= ends
        assert raw[document.offset :].startswith(document.text)
        ends = document.offset + len(document.text)
        assert document.text.decode().startswith("---") or document is documents[0] or document.text.startswith(b"%")


@given(scraps)
@example(HEAD + "%YAML 1.1\n")
@example(HEAD + "... # end\nb: 2\n---\n" + HEAD)
def test_a_document_alone_reads_as_it_did_in_its_file(text: str) -> None:
    for document in read_documents("f", text.encode())[0]:
        alone, problems = read_documents("f", document.text)
        assert (problems, [one.data for one in alone]) == ([], [document.data])


@given(
    data.filter(lambda found: found is not None),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, '"', "'"]),
)
def test_what_pyyaml_writes_is_read_back(found: Any, flow: bool | None, style: str | None) -> None:
    text = yaml.safe_dump(
        json.loads(json.dumps(found)), default_flow_style=flow, default_style=style, allow_unicode=True
    )
    if style is None and _reads_otherwise(found):
        return
    read = read_yaml("f", text.encode())
    assert read.problems == ()
    assert [document.root.data for document in read.documents] == [found]


@given(data.filter(lambda found: found is not None))
def test_json_is_read_back(found: Any) -> None:
    read = read_yaml("f", json.dumps(found, ensure_ascii=False).encode())
    assert ([document.root.data for document in read.documents], read.problems) == ([found], ())


def _reads_otherwise(found: Any) -> bool:
    """Has it a text that PyYAML leaves without quotes although Kubernetes reads a number: 1e3, 0o17?"""
    if isinstance(found, dict):
        return any(_reads_otherwise(part) for part in [*found, *found.values()])
    if isinstance(found, list):
        return any(_reads_otherwise(part) for part in found)
    return isinstance(found, str) and any(letter.isdigit() for letter in found)
