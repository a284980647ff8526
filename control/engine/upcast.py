"""How does a state that an older version stored become one that this version reads?

Each schema version has a function that turns it into the next one. A state from the future is refused, never guessed
at: the caller keeps it aside. Every version that was ever released has a stored example among the tests.
"""

from collections.abc import Callable, Mapping
from typing import Any

from control.errors import InvariantBroken

SCHEMA = 1
UPCASTERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def upcast(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a stored state as schema version SCHEMA has them, without the version itself.

    Raises: InvariantBroken when the version is newer than SCHEMA, or none.
    """
    fields = dict(data)
    version = fields.pop("schema", None)
    if not isinstance(version, int) or version < 1:
        raise InvariantBroken("the stored state names no schema version", "keep it aside and apply the shift again")
    if version > SCHEMA:
        raise InvariantBroken(
            f"the stored state has schema version {version}, this program knows up to {SCHEMA}",
            "it was written by a newer tidegate: run that one, or keep the state aside and apply the shift again",
        )
    for step in range(version, SCHEMA):
        fields = UPCASTERS[step](fields)
    return fields
