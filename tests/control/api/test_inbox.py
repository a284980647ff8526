"""What becomes of people's words in objects of the API server: a document that was never right above all."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from control.api.inbox import serve_one
from control.engine.command import Command
from control.errors import SpecError, Unavailable

KEY = ("shop", "cart")


@dataclass
class Object:
    """An object with news, as Post and as Shifts; `done` is what was done with it."""

    going: bool = False
    mistakes: str = ""
    away: bool = False
    done: list[str] = field(default_factory=list)

    def is_going(self, _key: Any) -> bool:
        return self.going

    async def hold_fast(self, _key: Any) -> None:
        self.done.append("held")

    async def let_go(self, _key: Any) -> None:
        self.done.append("let go")

    async def command(self, _key: Any) -> Command | None:
        return None

    async def load(self, *_key: str) -> None:
        if self.away:
            raise Unavailable("the API server does not answer")
        if self.mistakes:
            raise SpecError([self.mistakes])

    async def delete(self, *_key: str) -> None:
        await self.load()
        self.done.append("deleted")

    async def invalid(self, _key: Any, message: str) -> None:
        self.done.append(f"told: {message}")

    def later(self, _key: Any) -> None:
        self.done.append("later")


ROWS: dict[str, tuple[Object, list[str]]] = {
    "one that is right is held fast": (Object(), ["held"]),
    "one that was never right is told so, and held by nothing": (Object(mistakes="no host"), ["told: no host"]),
    "a deletion is taken up": (Object(going=True), ["held", "deleted"]),
    "one that was never right goes when it is deleted": (Object(going=True, mistakes="no host"), ["held", "let go"]),
    "who can't be asked is asked later": (Object(away=True), ["later"]),
}


@pytest.mark.parametrize(("found", "done"), ROWS.values(), ids=ROWS.keys())
async def test_news_of_an_object(found: Object, done: list[str]) -> None:
    woken: list[Any] = []
    shifts: Any = SimpleNamespace(store=found, delete=found.delete, looks=SimpleNamespace(wake_by_person=woken.append))
    await serve_one(found, shifts, KEY, found.invalid, found.later)
    assert (found.done, woken) == (done, [KEY])
