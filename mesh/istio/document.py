"""Which mesh documents does a file hold, and where does each of their fields stand?

A Document is a person's text with the data it stands for and the place of every field. It is never serialised: what
changes it are splices of its bytes. Typed views are read off its data by whoever needs them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from mesh.istio.problem import DocumentKey, Place, Problem
from mesh.istio.yaml_nodes import Data, Lines, Node, Path, nearest
from mesh.istio.yaml_text import LIMITS, Limits, YamlDocument, YamlFile, read_yaml

GROUPS: Mapping[str, str] = {
    "DestinationRule": "networking.istio.io",
    "Gateway": "networking.istio.io",
    "PeerAuthentication": "security.istio.io",
    "ServiceEntry": "networking.istio.io",
    "Sidecar": "networking.istio.io",
    "VirtualService": "networking.istio.io",
    "WorkloadEntry": "networking.istio.io",
}
VERSIONS = ("v1", "v1beta1", "v1alpha3")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\Z")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file.

    `text` is its bytes alone, from its own `---` (the first: from the top of the file) to the next one. `offset` is
    where they begin in the file and `line_offset` how many lines stand before. `revision` is a digest of `text`.
    """

    file: str
    text: bytes
    line_offset: int
    offset: int
    api_version: str
    kind: str
    namespace: str
    name: str
    revision: str
    data: Mapping[str, Data] = field(compare=False, repr=False)
    root: Node = field(compare=False, repr=False)
    char_offset: int = field(compare=False, repr=False)
    lines: Lines = field(compare=False, repr=False)

    @property
    def key(self) -> DocumentKey:
        return (self.kind, self.namespace, self.name)

    def place(self, path: Path = ()) -> Place:
        """Where `path` stands in the file, or its nearest existing ancestor."""
        return self.lines.at(nearest(self.root, path))

    def problem(self, path: Path, message: str, hint: str = "") -> Problem:
        """A mistake at `path` that knows its document."""
        place = self.place(path)
        return Problem(self.file, place.line, place.column, message, hint, self.key)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def read_documents(file: str, raw: bytes, limits: Limits = LIMITS) -> tuple[list[Document], list[Problem]]:
    """The documents of a file that can be used, and a problem for each mistake in the others."""
    read = read_yaml(file, raw, limits)
    documents: list[Document] = []
    problems: list[Problem] = []
    for part in read.documents:
        mistakes = _mistakes(file, read.lines, part)
        problems += mistakes
        if not mistakes:
            documents.append(_document(file, read, part))
    return documents, sorted([*read.problems, *_first(file, problems, limits.max_problems)])


def _first(file: str, problems: list[Problem], most: int) -> list[Problem]:
    """As many as a person might read, and how many more there are."""
    if len(problems) <= most:
        return problems
    return [*problems[:most], Problem(file, 0, 0, f"it has {len(problems) - most:,} more mistakes than are shown")]


def revision_of(text: bytes) -> str:
    """A digest of the text: equal texts, equal revisions."""
    return sha256(text).hexdigest()[:16]


def _document(file: str, read: YamlFile, part: YamlDocument) -> Document:
    text = read.text[part.start : part.end].encode()
    metadata = part.root.data["metadata"]
    return Document(
        file=file,
        text=text,
        line_offset=read.lines.at(part.start).line - 1,
        offset=len(read.text[: part.start].encode()),
        api_version=part.root.data["apiVersion"],
        kind=part.root.data["kind"],
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        revision=revision_of(text),
        data=part.root.data,
        root=part.root,
        char_offset=part.start,
        lines=read.lines,
    )


def _mistakes(file: str, lines: Lines, part: YamlDocument) -> list[Problem]:
    """What keeps a piece of YAML from being a mesh document."""

    def problem(path: Path, message: str, hint: str = "") -> Problem:
        place = lines.at(nearest(part.root, path))
        return Problem(file, place.line, place.column, message, hint)

    data = part.root.data
    if not isinstance(data, dict):
        return [problem((), "a document must be a mapping with apiVersion, kind, metadata and spec")]
    found = [*_kind_mistakes(data), *_name_mistakes(data.get("metadata"))]
    return [problem(path, message, hint) for path, message, hint in found]


Mistake = tuple[tuple[str, ...], str, str]


def _kind_mistakes(data: Mapping[str, Data]) -> list[Mistake]:
    kind, api_version = data.get("kind"), data.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(api_version, str):
        missing = "kind" if not isinstance(kind, str) else "apiVersion"
        return [((missing,), f"{missing} is missing or not text", "every document needs apiVersion and kind")]
    group, _, version = api_version.partition("/")
    if kind not in GROUPS or not group.endswith(".istio.io"):
        return [(("kind",), f"{api_version} {kind} is no kind that this mesh runs", "it runs " + ", ".join(GROUPS))]
    if group != GROUPS[kind] or version not in VERSIONS:
        hint = f"write {GROUPS[kind]}/v1 ({', '.join(VERSIONS[1:])} are read too)"
        return [(("apiVersion",), f"{kind} has no apiVersion {api_version}", hint)]
    return []


def _name_mistakes(metadata: Data) -> list[Mistake]:
    if not isinstance(metadata, dict):
        return [(("metadata",), "metadata is missing or not a mapping", "a document needs metadata.name")]
    found: list[Mistake] = []
    if not _is_name(metadata.get("name")):
        found.append((("metadata", "name"), _name_message("name", metadata.get("name")), ""))
    namespace = metadata.get("namespace")
    if namespace is not None and not _is_name(namespace):
        found.append((("metadata", "namespace"), _name_message("namespace", namespace), ""))
    return found


def _is_name(value: Data) -> bool:
    return isinstance(value, str) and bool(_NAME.match(value))


def _name_message(field_name: str, value: Data) -> str:
    if value is None:
        return f"metadata.{field_name} is missing"
    return f"metadata.{field_name} {str(value)[:60]!r} must be lower-case letters, digits, '-' and '.'"
