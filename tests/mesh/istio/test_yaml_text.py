"""YAML reading: values, places and everything that a stranger's text must not do to us."""

import math
import time
from typing import Any

import pytest
import yaml

from mesh.istio import yaml_text
from mesh.istio.yaml_nodes import nearest, nearest_value
from mesh.istio.yaml_scalars import UnknownTag, resolve
from mesh.istio.yaml_text import Limits, YamlFile, read_yaml


def read(text: str, limits: Limits = yaml_text.LIMITS) -> YamlFile:
    return read_yaml("f.yaml", text.encode(), limits)


def datas(text: str) -> list[Any]:
    return [document.root.data for document in read(text).documents]


def sentences(text: str | bytes, limits: Limits = yaml_text.LIMITS) -> list[str]:
    raw = text.encode() if isinstance(text, str) else text
    return [str(problem) for problem in read_yaml("f.yaml", raw, limits).problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("NULL", None),
        ("true", True),
        ("Yes", True),
        ("off", False),
        ("y", "y"),
        ("tRue", "tRue"),
        ("90", 90),
        ("-90", -90),
        ("+1_000", 1000),
        ("0", 0),
        ("0x5A", 90),
        ("-0x5a", -90),
        ("0b11", 3),
        ("0o17", 15),
        ("017", 15),
        ("-017", -15),
        ("089", 89.0),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-.inf", -math.inf),
        (".INF", math.inf),
        ("9" * 30, float("9" * 30)),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        ("v1", "v1"),
        ("127.0.0.1", "127.0.0.1"),
        ("==", "=="),
    ],
)
def test_plain_scalars_are_what_kubernetes_reads(text: str, value: Any) -> None:
    found = resolve(text, plain=True, tag=None)
    assert (found, type(found)) == (value, type(value))


def test_not_a_number() -> None:
    assert math.isnan(float(str(resolve(".nan", plain=True, tag=None))))


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [("str", "5", "5"), ("int", "5", 5), ("float", "5", 5.0), ("bool", "on", True), ("null", "", None)],
)
def test_core_tags(tag: str, text: str, value: Any) -> None:
    assert resolve(text, plain=False, tag=f"tag:yaml.org,2002:{tag}") == value
    assert resolve(text, plain=True, tag="!") == text


@pytest.mark.parametrize(
    ("tag", "text"), [("int", "x"), ("int", "9" * 40), ("float", "x"), ("bool", "x"), ("null", "x"), ("null", "0")]
)
def test_a_value_that_does_not_fit_its_tag(tag: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        resolve(text, plain=True, tag=f"tag:yaml.org,2002:{tag}")


@pytest.mark.parametrize("tag", ["!own", "tag:yaml.org,2002:python/name:os.system", "tag:yaml.org,2002:timestamp"])
def test_other_tags_make_nothing(tag: str) -> None:
    with pytest.raises(UnknownTag):
        resolve("x", plain=True, tag=tag)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: 1\nb: [x, {c: d}]\n", [{"a": 1, "b": ["x", {"c": "d"}]}], id="block and flow"),
        pytest.param('{"a": {"b": [1, null]}}', [{"a": {"b": [1, None]}}], id="JSON"),
        pytest.param("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="two documents"),
        pytest.param("---\n---\na: 1\n...\n---\n", [{"a": 1}], id="empty documents are none"),
        pytest.param("# nothing\n", [], id="a comment alone"),
        pytest.param("", [], id="an empty file"),
        pytest.param("%YAML 1.1\n---\na: 1\n", [{"a": 1}], id="a directive"),
        pytest.param("\ufeffa: 1\n", [{"a": 1}], id="a byte order mark"),
        pytest.param("a: &x {b: 1}\nc: *x\n", [{"a": {"b": 1}, "c": {"b": 1}}], id="an alias"),
        pytest.param("a: &x 1\nb: &x 2\nc: *x\n", [{"a": 1, "b": 2, "c": 2}], id="the later anchor counts"),
        pytest.param(
            "x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n", [{"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 3}}], id="merge"
        ),
        pytest.param(
            "p: &p {a: 1}\nq: &q {a: 2, b: 2}\ny: {<<: [*p, *q], c: 3}\n",
            [{"p": {"a": 1}, "q": {"a": 2, "b": 2}, "y": {"a": 1, "b": 2, "c": 3}}],
            id="of several merged mappings the first wins",
        ),
        pytest.param("'<<': 1\n", [{"<<": 1}], id="a quoted << is a key"),
        pytest.param(
            "a: !!str 5\nb: ! x\nc: !!map {d: !!seq [1]}\n", [{"a": "5", "b": "x", "c": {"d": [1]}}], id="core tags"
        ),
        pytest.param("5: a\ntrue: b\n", [{"5": "a", "true": "b"}], id="keys are text, as in JSON"),
        pytest.param("a: |\n  b\n   c\nd: >-\n  e\n  f\n", [{"a": "b\n c\n", "d": "e f"}], id="blocks of text"),
        pytest.param("a: 'it''s'\nb: \"x\\ty\"\n", [{"a": "it's", "b": "x\ty"}], id="quotes"),
        pytest.param("a: 1\r\nb: 2\r\n", [{"a": 1, "b": 2}], id="CRLF"),
        pytest.param("a: 1\rb: 2\r", [{"a": 1, "b": 2}], id="CR"),
        pytest.param("café: ☕🎉\n", [{"café": "☕🎉"}], id="other scripts"),
    ],
)
def test_data(text: str, expected: list[Any]) -> None:
    assert datas(text) == expected
    assert sentences(text) == []


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "a: 1\na: 2\n", ["f.yaml:2:1: the key 'a' appears twice, first in line 1, column 1"], id="duplicate key"
        ),
        pytest.param(
            "a: {b: 1, b: 2, c: 1}\nd:\n  e: 1\n  'e': 2\n",
            [
                "f.yaml:1:11: the key 'b' appears twice",
                "f.yaml:4:3: the key 'e' appears twice, first in line 3, column 3",
            ],
            id="all duplicate keys at once",
        ),
        pytest.param(
            BOMB, ["f.yaml:5:10: the document's aliases stand for more than 10,000 nodes"], id="billion laughs"
        ),
        pytest.param("a: &a [*a]\n", ["f.yaml:1:8: the alias *a stands inside its own anchor"], id="an endless alias"),
        pytest.param("a: *b\n", ["f.yaml:1:4: the alias *b has no anchor &b before it"], id="an alias to nothing"),
        pytest.param("a: &b 1\n---\nb: *b\n", ["f.yaml:3:4: the alias *b has no"], id="an anchor of another document"),
        pytest.param("\ta: 1\n", ["f.yaml:1:1: not valid YAML"], id="a tab"),
        pytest.param("a:\n\tb: 1\n", ["f.yaml:2:1: not valid YAML"], id="a tab as indentation"),
        pytest.param("a: [1\n", ["f.yaml:2:1: not valid YAML"], id="a bracket left open"),
        pytest.param("a: 'x\n", ["f.yaml:2:1: not valid YAML"], id="a quote left open"),
        pytest.param("[" * 100_000, ["f.yaml:1:1: nested more than 64 levels deep"], id="far too deep"),
        pytest.param("[{a: " * 50_000, ["f.yaml:1:162: nested more than 64 levels"], id="far too deep both ways"),
        pytest.param("- " * 70 + "x", ["f.yaml:1:131: nested more than 64 levels deep"], id="too deep"),
        pytest.param("a: \x00\n", ["f.yaml:1:4: control character U+0000 (remove it)"], id="NUL"),
        pytest.param("a: \x1b\nb: \x07", ["f.yaml:1:4: control", "f.yaml:2:4: control"], id="control characters"),
        pytest.param("? [a]\n: b\n", ["f.yaml:1:3: a key must be a word"], id="a list as key"),
        pytest.param("~: b\n", ["f.yaml:1:1: a key must be a word"], id="null as key"),
        pytest.param("a: &x b\n*x : c\n", ["f.yaml:2:1: a key must be a word"], id="an alias as key"),
        pytest.param("<<: 5\n", ["f.yaml:1:1: the merge key << takes a mapping"], id="merging a number"),
        pytest.param("<<: [5]\n", ["f.yaml:1:1: the merge key << takes a mapping"], id="merging a list of numbers"),
        pytest.param("<<: {a: 1}\n<<: {b: 1}\n", ["f.yaml:2:1: the merge key << appears twice"], id="merging twice"),
        pytest.param(
            "a: !!python/object/apply:os.system [ls]\n", ["f.yaml:1:4: the tag tag:yaml.org,2002:python"], id="a tag"
        ),
        pytest.param("a: !mine x\n", ["f.yaml:1:4: the tag !mine isn't allowed"], id="a tag of their own"),
        pytest.param("a: !!int x\n", ["f.yaml:1:4: 'x' doesn't fit its tag"], id="a value that doesn't fit"),
        pytest.param("a: !undefined!x y\n", ["f.yaml:1:4: not valid YAML"], id="a tag handle that is nobody's"),
        pytest.param("a: 1\n...\nb: 2\n", ["f.yaml:3:1: not valid YAML"], id="text behind the end"),
        pytest.param("%YAML 9.9\n---\na: 1\n", ["f.yaml:1:"], id="another YAML"),
    ],
)
def test_problems(text: str, expected: list[str]) -> None:
    found = sentences(text)
    assert len(found) == len(expected), found
    for sentence, beginning in zip(found, expected, strict=True):
        assert sentence.startswith(beginning)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a: \xff\n", "f.yaml:1:4: not UTF-8: byte 0xff at offset 3 (save the file as UTF-8)"),
        ("a: é\nb: ".encode() + b"\xc3", "f.yaml:2:4: not UTF-8: byte 0xc3 at offset 9 (save the file as UTF-8)"),
        ("a: 1\n".encode("utf-16"), "f.yaml:1:1: not UTF-8: byte 0xff at offset 0 (save the file as UTF-8)"),
        (b"a: \xed\xa0\x80\n", "f.yaml:1:4: not UTF-8: byte 0xed at offset 3 (save the file as UTF-8)"),
    ],
)
def test_not_utf8(raw: bytes, message: str) -> None:
    assert sentences(raw) == [message]


def test_a_file_that_is_too_long_is_refused_without_being_read() -> None:
    began = time.process_time()
    assert sentences(b"a: 1\n" * 2_000_000) == [
        "f.yaml: the file has more than 1,048,576 bytes, the most that is read (split it into several files)"
    ]
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\na: 1\n" * 116_000, id="documents"),
        pytest.param("- 1\n" * 262_000, id="a flat list"),
        pytest.param("[" + "1," * 524_000 + "]", id="a flat list in one line"),
        pytest.param("---\n- 1\n- *x\n" * 80_000, id="broken documents"),
        pytest.param("\x01" * 1_000_000, id="control characters"),
    ],
)
def test_a_file_with_too_many_values_is_not_read_to_its_end(text: str) -> None:
    began = time.process_time()
    assert sentences(text)
    assert time.process_time() - began < 2


def test_documents_before_the_one_with_too_many_values_are_read_and_none_behind_it() -> None:
    text = "a: 1\n---\nb: [1, 2, 3]\n---\nc: 1\n"
    assert [document.root.data for document in read(text, Limits(max_nodes=7)).documents] == [{"a": 1}]
    assert len(sentences(text, Limits(max_nodes=7))) == 1


def test_limits_are_what_they_say() -> None:
    assert sentences("a: 1\n", Limits(max_bytes=5)) == []
    assert len(sentences("a: 11\n", Limits(max_bytes=5))) == 1
    assert sentences("[[x]]", Limits(max_depth=2)) == []
    assert len(sentences("[[[x]]]", Limits(max_depth=2))) == 1
    assert sentences("a: [1, 2]", Limits(max_nodes=5)) == []
    assert sentences("a: [1, 2]", Limits(max_nodes=4)) == [
        "f.yaml:1:8: the file has more than 4 values; from here on it is not read (split it into several files)"
    ]
    assert sentences("a: &x [1, 2]\nb: *x\n", Limits(max_alias_nodes=3)) == []
    assert len(sentences("a: &x [1, 2, 3]\nb: *x\n", Limits(max_alias_nodes=3))) == 1
    assert len(sentences("a: 1\n" * 50, Limits(max_problems=7))) == 7


def test_reading_goes_on_behind_a_broken_document() -> None:
    text = "a: 1\n---\n\tb: 2\n---\nc: 'x\n---\nd: 4\n---\ne: 5\ne: 6\n---\nf: 6\n"
    assert datas(text) == [{"a": 1}, {"d": 4}, {"f": 6}]
    assert [sentence.split(": ")[0] for sentence in sentences(text)] == ["f.yaml:3:1", "f.yaml:6:1", "f.yaml:10:1"]


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
def test_a_text_that_only_nests_is_refused_at_once(loader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_LOADER", loader)
    began = time.process_time()
    for opening in ("[", "- ", "[{a: ", "{"):
        assert "nested more than 64 levels deep" in sentences(opening * 20_000)[0]
    assert time.process_time() - began < 2


def test_a_document_with_a_mistake_that_leaves_it_readable_is_kept_aside() -> None:
    found = read("a: 1\n---\nb: 2\nb: 3\nc: !mine 4\n---\nd: 'x\n")
    assert [document.root.data for document in found.documents] == [{"a": 1}]
    assert [document.root.data for document in found.flawed] == [{"b": 2, "c": None}]


def test_too_many_broken_documents_end_the_reading() -> None:
    text = "---\n\ta\n" * 5 + "---\nb: 1\n"
    assert datas(text) == [{"b": 1}]
    found = read(text, Limits(max_broken=3))
    assert found.documents == ()
    assert "too many broken documents" in str(found.problems[-1])


def test_every_character_belongs_to_one_document() -> None:
    texts = ["# top\na: 1\n# end of a\n", "--- # b\nb: 2\n...\n", "%YAML 1.1\n---\nc: é\n", "---\nd: 4"]
    found = read("".join(texts))
    assert [found.text[document.start : document.end] for document in found.documents] == texts


def test_text_behind_the_end_does_not_belong_to_the_document_before() -> None:
    found = read("a: 1\n...\nb: 2\n---\nc: 3\n")
    assert [found.text[document.start : document.end] for document in found.documents] == ["a: 1\n...\n", "---\nc: 3\n"]


PLACES = "é: 1\nb:\n  - c\n  - {d: é, e: [x]}\nx: &x {k: v}\ny:\n  <<: *x\nz: *x\n"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("é",), (1, 1)),
        (("b",), (2, 1)),
        (("b", 0), (3, 5)),
        (("b", 1), (4, 5)),
        (("b", 1, "e"), (4, 12)),
        (("b", 1, "e", 0), (4, 16)),
        (("b", 1, "none"), (4, 5)),
        (("b", 9), (2, 1)),
        (("b", "c"), (2, 1)),
        (("b", 0, "c"), (3, 5)),
        (("none", "x"), (1, 1)),
        (("y", "k"), (5, 8)),
        (("z", "k"), (5, 8)),
    ],
)
def test_places(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    found = read(PLACES)
    at = found.lines.at(nearest(found.documents[0].root, path))
    assert (at.line, at.column) == place


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("é",), (1, 4)),
        (("b", 1, "e"), (4, 15)),
        (("b", 1, "none"), (4, 5)),
        (("b", 9), (3, 3)),
        (("none", "x"), (1, 1)),
        (("y", "k"), (5, 11)),
    ],
)
def test_places_of_values(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    found = read(PLACES)
    at = found.lines.at(nearest_value(found.documents[0].root, path))
    assert (at.line, at.column) == place


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_lines_count_as_an_editor_does(line_break: str) -> None:
    found = read("a: 'x\u2028 y'\nb: 1\n".replace("\n", line_break))
    assert found.lines.at(nearest(found.documents[0].root, ("b",))).line == 2


def test_a_byte_order_mark_takes_no_column() -> None:
    found = read("\ufeffa: {b: 1}\nc: 2\n")
    places = [found.lines.at(nearest(found.documents[0].root, path)) for path in ((), ("a", "b"), ("c",))]
    assert [(place.line, place.column) for place in places] == [(1, 1), (1, 5), (2, 1)]
    assert sentences("\ufeffa: *x\n")[0].startswith("f.yaml:1:4: the alias")
    assert found.documents[0].start == 0


SAMPLES = [PLACES, "a: &x !!int 90\nb: [c: d, {e: ,}]\nf:\n  - |\n   t\n  -\n  - *x\n", "--- # x\n? a\n: b\n"]


@pytest.mark.parametrize("text", SAMPLES)
def test_both_parsers_of_pyyaml_tell_the_same_places(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without libyaml the Python parser is used: nothing but speed may differ."""
    found = []
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        monkeypatch.setattr(yaml_text, "_LOADER", loader)
        read_text = read(text)
        found.append([(document.start, document.end, document.root.data) for document in read_text.documents])
    assert found[0] == found[1]
    assert found[0]
