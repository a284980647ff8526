"""Is every document either refused or translated? Whatever stands in a field, nothing else may happen."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mesh.istio.document import Document, read_documents
from mesh.xds.translate import EncodeCache, check, node_resources, proxies
from tests.support.xlate_everything import everything

Path = tuple[str | int, ...]
JUNK = [
    None,
    {},
    [],
    "",
    "x",
    "*",
    "unix://",
    "a/b",
    "1s",
    0,
    -1,
    7,
    2**40,
    True,
    1.5,
    [{}],
    [[]],
    ["x"],
    {"a": {}},
    {"a": "b"},
]
MESH = everything()
CACHE = EncodeCache()
DATA = [json.loads(document.text) for document in MESH]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


PLACES = [(index, path) for index, data in enumerate(DATA) for path in paths(data["spec"], ("spec",)) if len(path) > 1]


def spoiled(index: int, path: Path, junk: Any, *, gone: bool) -> Document | None:
    """One document with junk at one place, or without what stood there."""
    data = json.loads(json.dumps(DATA[index]))
    node = data
    for part in path[:-1]:
        node = node[part]
    if gone:
        del node[path[-1]]
    else:
        node[path[-1]] = junk
    found, _ = read_documents("spoiled.yaml", json.dumps(data).encode())
    return found[0] if found else None


@settings(max_examples=150, deadline=None)
@given(place=st.sampled_from(PLACES), junk=st.sampled_from(JUNK), gone=st.booleans())
def test_a_spoiled_document_is_refused_or_translated(place: tuple[int, Path], junk: Any, gone: bool) -> None:
    index, path = place
    document = spoiled(index, path, junk, gone=gone)
    documents = [*MESH[:index], *([document] if document else []), *MESH[index + 1 :]]
    refused = {problem.document for problem in check(documents, CACHE)}
    live = [each for each in documents if each.key not in refused]
    for node in proxies(live, CACHE):
        held = node_resources(live, node, CACHE)
        assert all(item.name == name for name, item in held.clusters.items())
