"""Which documents are live, what does each proxy have because of them, and who has acknowledged that?

The runner's state and the only place where it changes. It touches no file and no process, and of the machine it only
asks whether a port is free: files come in as bytes, snapshots go to the discovery server. Every change is one
synchronous step, so nobody ever sees half of one.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mesh.istio.document import Document
from mesh.istio.lint_scene import Scene
from mesh.istio.lint_together import unknown_subset
from mesh.istio.problem import DocumentKey, Problem
from mesh.istio.weights import WeightPatch, replace_document, splice
from mesh.istio.world import EMPTY, Content, World, changed, merge
from mesh.pulse import Pulse
from mesh.runner.own_ports import Address
from mesh.runner.taken import address_of, refusal_by_others, unavailable
from mesh.xds.server import AdsServer
from mesh.xds.snapshot import Kind, Snapshot, inconsistencies, snapshot
from mesh.xds.translate import (
    Difference,
    EncodeCache,
    NodeResources,
    ProxyNode,
    check,
    differences,
    node_resources,
    proxies,
)

SEPARATOR = b"---\n"
WITHOUT_LISTENERS = ("DestinationRule", "PeerAuthentication", "VirtualService")


class NoSuchDocument(Exception):
    """No document of that name is live."""


@dataclass(frozen=True, slots=True)
class Held:
    """A proxy, what it should have, and that as a snapshot."""

    node: ProxyNode
    resources: NodeResources
    snapshot: Snapshot


class PatchRefused(Exception):
    """The patched document would not be a sound one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A patch thought through: the world that it leads to, and the new content of its file (None: it can't take it)."""

    world: World
    revision: str
    file: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class RevisionState:
    """Who holds a document's revision and who runs it. `rejections` are (proxy, reason)."""

    current: bool
    holders: tuple[str, ...]
    acknowledged: tuple[str, ...]
    rejections: tuple[tuple[str, str], ...]


class LiveMesh:
    """The documents that are live and what follows from them. `changed` beats when they change."""

    def __init__(self, ads: AdsServer) -> None:
        self.world: World = EMPTY
        self.held: dict[str, Held] = {}
        self.changed = Pulse()
        self._changes: deque[tuple[int, tuple[DocumentKey, ...]]] = deque(maxlen=256)
        self._ads = ads
        self._cache = EncodeCache()
        self._asked: set[Address] = set()
        self._guarded = False
        self.port_refused = False

    def known_files(self) -> dict[str, Content]:
        return {file: reading.raw for file, reading in self.world.files.items()}

    def apply(self, files: Mapping[str, Content]) -> tuple[DocumentKey, ...]:
        """Makes these files the mesh's documents, as far as they are sound. Returns what changed."""
        self.port_refused = False
        return self._become(merge(self.world, files, self._check))

    def prepare(self, key: DocumentKey, patch: WeightPatch) -> Prepared:
        """What the patch leads to. Changes nothing yet. Raises NoSuchDocument, PatchRefused and the errors of `splice`.

        Where the document's file has a newer, refused text, the patch changes the live version only, so that a broken
        file never stands in the way of a rollback.
        """
        document = self.document(key)
        text = splice(document, patch)
        files = self.known_files()
        content, raw = None, files.get(document.file)
        if isinstance(raw, bytes) and stands_in_file(self.world, document):
            content = replace_document(raw, document, text)
            world = merge(self.world, {**files, document.file: content}, self._check)
        else:
            stand_in = last_good_file(self.world, document, text)
            world = merge(merge(self.world, {**files, document.file: stand_in}, self._check), files, self._check)
        live = world.by_key().get(key)
        if live is None or live.text not in (text, SEPARATOR + text):
            raise PatchRefused("; ".join(str(problem) for problem in world.problems) or f"{document} can't be patched")
        return Prepared(world, live.revision, document.file, content)

    def commit(self, prepared: Prepared) -> None:
        """Makes what was prepared live; nothing else may have been applied in between."""
        self._become(prepared.world)

    def document(self, key: DocumentKey) -> Document:
        """The live version. Raises NoSuchDocument with those that exist."""
        found = self.world.by_key().get(key)
        if found is None:
            names = ", ".join(f"{d.namespace}/{d.name}" for d in self.world.documents if d.kind == key[0])
            raise NoSuchDocument(f"no {key[0]} {key[1]}/{key[2]} is live; there are: {names or 'none'}")
        return found

    def revision_state(self, key: DocumentKey, revision: str) -> RevisionState:
        """Who holds this revision of the document, and who runs it, now."""
        live = self.world.by_key().get(key)
        holders = {name: held for name, held in self.held.items() if key in held.resources.documents}
        routes = {name: held.resources.documents[key] for name, held in holders.items()}
        return RevisionState(
            current=live is not None and live.revision == revision,
            holders=tuple(sorted(holders)),
            acknowledged=tuple(sorted(name for name in holders if self._runs(self.held[name], routes[name]))),
            rejections=tuple(
                (name, f"{kind.name.lower()} {resource}: {reason}")
                for name, held in sorted(holders.items())
                for kind, resource, reason in self._ads.rejections(held.node.node_id)
                if kind is not Kind.ROUTE or resource in routes[name]
            ),
        )

    def differences(self, host: str, versions: Sequence[str]) -> tuple[Difference, ...]:
        """Where callers wait or retry otherwise for one of the versions, as the live documents have it."""
        return differences(self.world.documents, host, versions, self._cache)

    def changes_after(self, beat: int) -> list[DocumentKey]:
        """Documents that changed after a beat of `changed`, each once."""
        return list(dict.fromkeys(key for at, keys in self._changes if at > beat for key in keys))

    def guard(self) -> None:
        """From now on a document whose new listener can't be had is refused; `port_refused` says that one was."""
        self._guarded = True

    def addresses(self) -> set[Address]:
        """Where the Envoys listen, or will."""
        return addresses(held.resources for held in self.held.values())

    def problems(self) -> tuple[Problem, ...]:
        return self.world.problems

    def _check(self, documents: Sequence[Document]) -> list[Problem]:
        """What the translation refuses; rules for a subset that nothing declares yet, which would answer 503; ports."""
        return check(documents, self._cache) or list(unknown_subset(Scene(documents))) or self._taken(documents)

    def _taken(self, documents: Sequence[Document]) -> list[Problem]:
        """A problem for each new listener whose address another program has, at a changed document if there is one."""
        if not self._guarded or listening(documents) == listening(self.world.documents):
            return []
        wanted = addresses(node_resources(documents, node, self._cache) for node in proxies(documents, self._cache))
        known = set(self.world.documents)
        suspects = sorted(documents, key=lambda document: document in known)
        found = unavailable(wanted - self.addresses(), suspects, refusal_by_others(self._asked))
        self.port_refused |= bool(found)
        return found

    def _runs(self, held: Held, routes: frozenset[str]) -> bool:
        node, wanted = held.node.node_id, held.resources.routes
        return all(self._ads.runs(node, Kind.ROUTE, name, wanted[name].digest) for name in routes)

    def _become(self, world: World) -> tuple[DocumentKey, ...]:
        """All or nothing: what can't be translated leaves everything as it was."""
        news = changed(self.world, world)
        told = world.problems != self.world.problems
        held = self._translated(world.documents) if news else self.held
        self.world, self.held = world, held
        self._asked |= self.addresses()
        if news:
            self._ads.publish({each.node.node_id: each.snapshot for each in held.values()})
        if news or told:
            self._changes.append((self.changed.beats + 1, news))
            self.changed.beat()
            self._ads.heard.beat()
        return news

    def _translated(self, documents: Sequence[Document]) -> dict[str, Held]:
        """What each proxy should have. What is as before is the very same object."""
        held: dict[str, Held] = {}
        for node in proxies(documents, self._cache):
            resources = node_resources(documents, node, self._cache)
            known = self.held.get(node.id)
            kept = known.snapshot if known and known.resources == resources else as_snapshot(resources)
            held[node.id] = Held(node, resources, kept)
        return held


def addresses(resources: Iterable[NodeResources]) -> set[Address]:
    """Where these listen."""
    places = (address_of(name) for each in resources for name in each.listeners)
    return {address for address in places if address}


def listening(documents: Sequence[Document]) -> set[tuple[DocumentKey, str]]:
    """What listeners follow from: key and revision of each document of a kind that can open one."""
    return {(document.key, document.revision) for document in documents if document.kind not in WITHOUT_LISTENERS}


def as_snapshot(resources: NodeResources) -> Snapshot:
    """The snapshot of a node's resources. Raises AssertionError when they don't fit together: a bug of ours."""
    made = snapshot(
        clusters=resources.clusters,
        endpoints=resources.endpoints,
        listeners=resources.listeners,
        routes=resources.routes,
    )
    problems = inconsistencies(made)
    assert not problems, problems
    return made


def stands_in_file(world: World, document: Document) -> bool:
    """Is the live document what its file says too?"""
    reading = world.files.get(document.file)
    return reading is not None and any(
        each.key == document.key and each.text == document.text for each in reading.documents
    )


def last_good_file(world: World, document: Document, text: bytes) -> bytes:
    """A file made of the live documents of the document's file, with its new text."""
    parts = [
        text if each.key == document.key else each.text
        for each in sorted(world.documents, key=lambda each: each.offset)
        if each.file == document.file
    ]
    whole = [part if part.endswith(b"\n") else part + b"\n" for part in parts]
    return b"".join(part if at == 0 or part.startswith(b"---") else SEPARATOR + part for at, part in enumerate(whole))
