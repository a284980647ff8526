"""What is kept of a shift that is over? One entry of the service's ledger: what was tried, what was seen, what follows.

Entries are plain data that a team can read, and that the next shift's priors are made of (`control.engine.priors`). An
entry that is read back is checked field by field, since people may have had their hands in the file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from fractions import Fraction
from math import isfinite
from types import NoneType
from typing import Any, get_args, get_type_hints

from control.engine.codec import decode, encode
from control.engine.compared import Counted, Difference

Path = tuple[str | int, ...]
"""Keys and indexes from the entry down."""
NONE = Counted(0, 0)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one test said when the run ended.

    `harm` and `proof` are odds. `log_ratio` is the log of canary's rate over stable's, `variance` what chance gives it.
    `phi` is the dispersion that this run alone showed, on `freedom` degrees of freedom, at `reference` bad requests a
    process and poll; `spread` the sd of log rates between stable's processes, on as many degrees as `trust`.
    """

    test: str
    metric: str
    verdict: str
    canary: Counted = NONE
    stable: Counted = NONE
    harm: float = 1.0
    proof: float = 1.0
    difference: Difference | None = None
    log_ratio: float | None = None
    variance: float | None = None
    phi: float = 1.0
    freedom: float = 0.0
    reference: float = 0.0
    spread: float = 0.0
    trust: float = 0.0


PROMOTED, ROLLED_BACK = "promoted", "rolled back"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One run of one shift. `shares` are those that the canary had, in order; `cause` and `reason` say why it ended;
    `rule` is what the next release should know. `longest_s`: the longest request of stable, in seconds (0: unknown).
    """

    shift: str
    run: int
    stable: str
    canary: str
    began: datetime
    ended: datetime
    outcome: str
    cause: str
    reason: str
    rule: str
    mode: str = "control"
    shares: tuple[Fraction, ...] = ()
    longest_s: float = 0.0
    tests: tuple[Finding, ...] = ()

    @property
    def of_run(self) -> tuple[str, int, datetime]:
        """Which run it speaks of."""
        return self.shift, self.run, self.began

    @property
    def key(self) -> tuple[str, int, datetime, str]:
        """Two entries with the same key are the same entry. A run that was promoted and then taken back has two."""
        return *self.of_run, self.outcome


class Misfit(Exception):
    """Plain data that is no entry: where, and why."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def to_plain(entry: LedgerEntry) -> dict[str, Any]:
    """JSON values with keys as in a TrafficShift; what has its default is left out."""
    plain: dict[str, Any] = _renamed(encode(entry), _camel)
    return plain


def from_plain(data: Any) -> LedgerEntry:
    """Raises: Misfit at the first thing that does not fit."""
    entry: LedgerEntry = _checked(LedgerEntry, data, ())
    return entry


def _renamed(value: Any, name: Any) -> Any:
    match value:
        case Mapping():
            return {name(key): _renamed(each, name) for key, each in value.items()}
        case list():
            return [_renamed(each, name) for each in value]
        case float():
            return float(f"{value:.6g}")
        case _:
            return value


def _camel(name: str) -> str:
    """Example: "log_ratio" is "logRatio"."""
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def _checked(kind: Any, data: Any, path: Path) -> Any:
    """The value of `kind` that the data stands for, taken apart only as far as a mistake has to be found."""
    arguments = get_args(kind)
    if NoneType in arguments:
        return None if data is None else _checked(next(each for each in arguments if each is not NoneType), data, path)
    if is_dataclass(kind):
        return _of_fields(kind, data, path)
    if arguments:
        if not isinstance(data, list):
            raise Misfit(path, "expected a list")
        return tuple(_checked(arguments[0], each, (*path, number)) for number, each in enumerate(data))
    return _scalar(kind, data, path)


def _of_fields(kind: Any, data: Any, path: Path) -> Any:
    if not isinstance(data, Mapping):
        raise Misfit(path, "expected keys with values")
    hints = get_type_hints(kind)
    names = {_camel(field.name): field.name for field in fields(kind)}
    if unknown := next((key for key in data if key not in names), None):
        raise Misfit((*path, unknown), f"no such key; known here: {', '.join(names)}")
    known = {names[key]: _checked(hints[names[key]], value, (*path, key)) for key, value in data.items()}
    try:
        return kind(**known)
    except TypeError as error:
        missing = ", ".join(_camel(name) for name in re.findall(r"'(\w+)'", str(error)))
        raise Misfit(path, f"{missing} is missing") from None


def _scalar(kind: Any, data: Any, path: Path) -> Any:
    words = {int: "a whole number", float: "a number", str: "text", datetime: "a time such as 2026-05-01T10:00:00Z"}
    try:
        if isinstance(data, bool):
            raise TypeError
        value = decode(kind, str(data) if kind is Fraction else data)
        if (isinstance(value, datetime) and value.tzinfo is None) or (kind is float and not isfinite(value)):
            raise ValueError
    except (TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise Misfit(path, f"expected {words.get(kind, 'a share such as 1/20')}") from None
    return float(value) if kind is float else value
