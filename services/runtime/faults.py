"""Which failures may a service be told to make on purpose?

One grammar, on the command line (`--fault`, repeatable) and per request (metadata `tidegate-fault`):

    faults = fault *( ";" fault )
    fault  = [ kind ] *( (":" | ",") field )
    field  = key "=" value | value
    kind   = errors | internal | delay | refuse | crash

A bare value is known by its form: a share (`0.3`, `30%`), a duration (`200ms`, `5s`), a gRPC status (`UNAVAILABLE`) or,
for `crash`, a number of requests. Without a kind, `delay=` makes it a delay and anything else an error.

    errors    status=UNAVAILABLE share=0.3 when=before-headers first=K for=T   fail a share, or the first K tries
    internal  the same with status=INTERNAL share=0.2
    delay     delay=200ms share=1 for=T                                wait before serving: all, or a tail share
    refuse    after=0s                                                 close the port      (command line only)
    crash     requests=5 | after=DURATION                              the process dies    (command line only)

`first=K` fails while the attempt that the mesh counted is at most K, with share 1 unless given. `for=T` heals: the
fault happens only in the first T of the process's traffic, counted from its first call, not from its start.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import grpc


class When(StrEnum):
    """Whether the caller sees response headers before the failure. After them, no mesh retries."""

    BEFORE_HEADERS = "before-headers"
    AFTER_HEADERS = "after-headers"


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with `status`: a share of tries, and only the first `first` tries of a request when that is set.

    `lasts`: for so long after the process's first call; None: for ever.
    """

    status: grpc.StatusCode
    share: float
    when: When = When.BEFORE_HEADERS
    first: int | None = None
    lasts: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait before serving a share of tries, for as long as `Fail.lasts` says."""

    delay: timedelta
    share: float = 1.0
    lasts: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Close the port, so that a connection is refused, while the process lives on."""

    after: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Crash:
    """Die without a word: at the n-th request, or after a time."""

    requests: int | None = None
    after: timedelta | None = None


Fault = Fail | Delay | Refuse | Crash
CallFault = Fail | Delay


class FaultError(ValueError):
    """The text is not a fault; `problems` holds every mistake in it."""

    def __init__(self, text: str, problems: list[str]) -> None:
        super().__init__(f"fault {text!r}: " + "; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class _Kind:
    build: Callable[..., Fault]
    fields: frozenset[str]
    defaults: Mapping[str, Any]


_FAIL_FIELDS: Final = frozenset({"status", "share", "when", "first", "for"})
_KINDS: Final[Mapping[str, _Kind]] = {
    "errors": _Kind(Fail, _FAIL_FIELDS, {"status": grpc.StatusCode.UNAVAILABLE, "share": 0.3}),
    "internal": _Kind(Fail, _FAIL_FIELDS, {"status": grpc.StatusCode.INTERNAL, "share": 0.2}),
    "delay": _Kind(Delay, frozenset({"delay", "share", "for"}), {"delay": timedelta(milliseconds=200)}),
    "refuse": _Kind(Refuse, frozenset({"after"}), {}),
    "crash": _Kind(Crash, frozenset({"requests", "after"}), {}),
}
_CRASH_REQUESTS: Final = 5
_NUMBER: Final = re.compile(r"\d+(\.\d+)?%?")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNIT_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0}
_MAX_DURATION: Final = timedelta(hours=1)


def _share(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"share {text!r} is not a number like 0.3 or 30%")
    number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not 0 <= number <= 1:
        raise ValueError(f"share {text!r} is not between 0 and 1")
    return number


def _duration(text: str) -> timedelta:
    match = _DURATION.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a duration like 200ms, 5s or 1m")
    seconds = float(match[1]) * _UNIT_S[match[2]]
    if seconds > _MAX_DURATION.total_seconds():
        raise ValueError(f"{text!r} is longer than an hour")
    return timedelta(seconds=seconds)


def _status(text: str) -> grpc.StatusCode:
    code = grpc.StatusCode.__members__.get(text)
    if code is None or code is grpc.StatusCode.OK:
        raise ValueError(f"{text!r} is not a gRPC status that fails")
    return code


def _when(text: str) -> When:
    try:
        return When(text)
    except ValueError:
        raise ValueError(f"when={text!r} is neither {When.BEFORE_HEADERS} nor {When.AFTER_HEADERS}") from None


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise ValueError(f"{text!r} is not a whole number from 1 up")
    return int(text)


_FIELDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "status": _status,
    "share": _share,
    "when": _when,
    "first": _count,
    "delay": _duration,
    "after": _duration,
    "requests": _count,
    "for": _duration,
}
_ATTRIBUTES: Final = {"for": "lasts"}  # where the grammar's word is one of Python's


def parse_faults(text: str) -> list[Fault]:
    """The faults that `text` asks for.

    Raises: FaultError with all mistakes.
    Example: parse_faults("errors:0.3:UNAVAILABLE") == [Fail(UNAVAILABLE, 0.3)]
    """
    problems: list[str] = []
    parts = [part.strip() for part in text.split(";")]
    faults = [fault for part in parts if (fault := _fault(part, problems)) is not None]
    if problems:
        raise FaultError(text, problems)
    return faults


def parse_call_faults(text: str) -> list[CallFault]:
    """The faults that one request asks for; those of a whole process are not allowed here.

    Raises: FaultError with all mistakes.
    """
    faults = parse_faults(text)
    allowed = [fault for fault in faults if isinstance(fault, Fail | Delay)]
    if len(allowed) < len(faults):
        raise FaultError(text, ["refuse and crash concern the process, not one request"])
    return allowed


def _fault(text: str, problems: list[str]) -> Fault | None:
    pieces = [piece.strip() for piece in re.split("[:,]", text)]
    named = pieces[0] in _KINDS
    name = pieces[0] if named else _implied_kind(pieces)
    given: dict[str, Any] = {} if named else {"share": 1.0}
    before = len(problems)
    for piece in pieces[1 if named else 0 :]:
        _take(piece, name, given, problems)
    if len(problems) > before:
        return None
    return _built(name, given)


def _implied_kind(pieces: list[str]) -> str:
    return "delay" if any(piece.startswith("delay=") for piece in pieces) else "errors"


def _take(piece: str, kind: str, given: dict[str, Any], problems: list[str]) -> None:
    key, equals, value = piece.partition("=")
    if not equals:
        key, value = _key_of(piece, kind), piece
    if key not in _KINDS[kind].fields:
        known = ", ".join(sorted(_KINDS[kind].fields))
        problems.append(f"{piece!r} is no part of {kind} (kinds: {', '.join(_KINDS)}; {kind} takes {known})")
        return
    try:
        given[key] = _FIELDS[key](value)
    except ValueError as error:
        problems.append(str(error))


def _key_of(value: str, kind: str) -> str:
    if _DURATION.fullmatch(value):
        return "delay" if kind == "delay" else "after"
    if _NUMBER.fullmatch(value):
        return "requests" if kind == "crash" else "share"
    return "status" if value.isupper() else ""


def _built(name: str, given: dict[str, Any]) -> Fault:
    kind = _KINDS[name]
    defaults = dict(kind.defaults)
    if "first" in given:
        defaults["share"] = 1.0
    if name == "crash" and not given:
        defaults["requests"] = _CRASH_REQUESTS
    return kind.build(**{_ATTRIBUTES.get(key, key): value for key, value in (defaults | given).items()})
