"""What objects of a kind are there now, kept up to date by list and watch?

One stream a kind. It resumes where it stopped by the version of the last event or bookmark; when the API server no
longer has that (410), everything is listed anew. Only what `project` makes of an object is kept.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

import structlog

from control.adapters.kubernetes.api import Gone, Json, Kind, KubeApi
from control.errors import TidegateError, Unavailable

T = TypeVar("T")
Key = tuple[str, str]
"""Namespace and name."""
OnChange = Callable[[Key], None]

QUIET_S = 90.0
"""Bookmarks come about once a minute: a stream without one for longer is taken for dead."""
FIRST_DELAY_S, LONGEST_DELAY_S = 0.2, 10.0


class Informer(Generic[T]):
    """The objects of one kind, in one namespace or in all, as `project` made them. `run` keeps them; `ready` waits."""

    def __init__(self, api: KubeApi, kind: Kind, project: Callable[[Json], T], namespace: str = "") -> None:
        self._api = api
        self._kind = kind
        self._project = project
        self._namespace = namespace
        self._found: dict[Key, T] = {}
        self._listed = asyncio.Event()
        self._listeners: list[OnChange] = []
        self._log: Any = structlog.get_logger("control")
        self.trouble = ""
        self.relisted = 0

    @property
    def of(self) -> str:
        """Which kind it is about."""
        return self._kind.plural

    @property
    def listed(self) -> bool:
        """Has the first list come?"""
        return self._listed.is_set()

    @property
    def objects(self) -> Mapping[Key, T]:
        """What is known. Empty until the first list has come."""
        return self._found

    def get(self, namespace: str, name: str) -> T | None:
        """Raises Unavailable while nothing has been listed."""
        if not self._listed.is_set():
            raise Unavailable(f"the {self._kind.plural} of the cluster are not known yet", hint=self.trouble)
        return self._found.get((namespace, name))

    def all(self) -> Mapping[Key, T]:
        """Raises Unavailable while nothing has been listed."""
        if not self._listed.is_set():
            raise Unavailable(f"the {self._kind.plural} of the cluster are not known yet", hint=self.trouble)
        return self._found

    def listen(self, listener: OnChange) -> None:
        """`listener` is told of each key whose object came, changed or went."""
        self._listeners.append(listener)

    async def ready(self) -> None:
        """Returns once the objects have been listed."""
        await self._listed.wait()

    def seen(self, item: Json) -> None:
        """An answer of the API server that we have at hand, before the stream brings it."""
        self._put(item)

    async def run(self) -> None:
        """Lists and watches until cancelled."""
        version, failures = "", 0
        while True:
            try:
                version = version or await self._list()
                version = await self._watch(version)
            except Gone as error:
                version, failures = "", 0
                self._log.info("listed again", kind=self._kind.plural, why=error.message)
            except TidegateError as error:
                self.trouble = error.message
                failures += 1
                await asyncio.sleep(_delay_s(failures))
            else:
                self.trouble, failures = "", 0

    async def _list(self) -> str:
        listed = await self._api.list(self._kind, self._namespace)
        before = set(self._found)
        for item in listed["items"]:
            self._put(item)
        for key in before - {key_of(item) for item in listed["items"]}:
            self._drop(key)
        self.relisted += 1
        self._listed.set()
        self.trouble = ""
        return str(listed["metadata"]["resourceVersion"])

    async def _watch(self, version: str) -> str:
        """The version of the last event, when the server ended the stream."""
        try:
            async for event in self._api.watch(self._kind, self._namespace, version, quiet_s=QUIET_S):
                item = event["object"]
                version = str(item["metadata"]["resourceVersion"])
                if event["type"] == "DELETED":
                    self._drop(key_of(item))
                elif event["type"] != "BOOKMARK":
                    self._put(item)
        except Unavailable:
            await asyncio.sleep(_delay_s(1))
        return version

    def _put(self, item: Json) -> None:
        key = key_of(item)
        self._found[key] = self._project(item)
        self._tell(key)

    def _drop(self, key: Key) -> None:
        with suppress(KeyError):
            del self._found[key]
            self._tell(key)

    def _tell(self, key: Key) -> None:
        for listener in self._listeners:
            listener(key)


def key_of(item: Json) -> Key:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _delay_s(failures: int) -> float:
    most: float = min(FIRST_DELAY_S * 2 ** min(failures - 1, 10), LONGEST_DELAY_S)
    return most * (0.5 + random.random() / 2)  # noqa: S311
