"""How does a state that an older version stored become one that this version reads?

Each schema version has a function that turns it into the next one. A state from the future is refused, never guessed
at: the caller keeps it aside. Every version that was ever released has a stored example among the tests.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from control.engine.codec import squeezed
from control.errors import InvariantBroken

SCHEMA = 2


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


def _compared_anew(fields: dict[str, Any]) -> dict[str, Any]:
    """Schema 2 weighs more, and in another way: the run goes on where it stands, what it compares begins anew.

    No counter is used up yet, so that the first reading is neutral. The spec reads differently with its new defaults:
    no digest of it is known, which is no change of what a person asked for. Decisions keep the margin of then, steps
    and what was seen are packed.
    """
    rest = {key: _with_margin(each) for key, each in fields.items() if key not in ("evidence", "cursor")}
    packed = {key: squeezed(json.dumps(rest[key]).encode()) for key in ("steps", "seen") if key in rest}
    return rest | packed | {"generation": ""}


_MARGIN_OF_SCHEMA_1 = {"ratio": "1.1", "extra": "0.0005"}


def _with_margin(value: Any) -> Any:
    match value:
        case {"metric": metric, "logHarm": _}:
            return value | _MARGIN_OF_SCHEMA_1 | {"test": metric}
        case dict():
            return {key: _with_margin(each) for key, each in value.items()}
        case list():
            return [_with_margin(each) for each in value]
        case _:
            return value


UPCASTERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _compared_anew}
