"""What do a route's own filters do? Injected faults and the answers to other sites' preflights, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mesh.istio.duration import parse_duration
from mesh.istio.string_match import StringMatch, string_match


@dataclass(frozen=True, slots=True)
class Percentage:
    """A share in percent. `whole`: written as the old integer, which Envoy is told in hundredths."""

    value: float
    whole: bool = False


EVERY = Percentage(100, whole=True)


@dataclass(frozen=True, slots=True)
class Delay:
    """A wait before the request goes on."""

    percentage: Percentage
    fixed: timedelta


@dataclass(frozen=True, slots=True)
class Abort:
    """An answer in place of the request's own. Just one of the two is set; without `percentage` nothing is aborted."""

    percentage: Percentage | None
    http_status: int | None
    grpc_status: str | None


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong on purpose."""

    delay: Delay | None
    abort: Abort | None


@dataclass(frozen=True, slots=True)
class Cors:
    """Which other sites' pages may call. `forward_unmatched`: preflights of others go to the service."""

    origins: tuple[StringMatch, ...]
    methods: tuple[str, ...]
    headers: tuple[str, ...]
    expose: tuple[str, ...]
    max_age: timedelta | None
    credentials: bool | None
    forward_unmatched: bool


def percentage(data: Mapping[str, Any] | None) -> Percentage | None:
    """A `percentage` block; nothing in it is 0."""
    return None if data is None else Percentage(float(data.get("value", 0)))


def fault(data: Mapping[str, Any]) -> Fault:
    """The view of a route's `fault`."""
    delay, abort = data.get("delay"), data.get("abort")
    return Fault(
        None if delay is None or "fixedDelay" not in delay else _delay(delay),
        None if abort is None or not abort.keys() & {"httpStatus", "grpcStatus"} else _abort(abort),
    )


def _delay(data: Mapping[str, Any]) -> Delay:
    share = percentage(data.get("percentage")) or Percentage(float(data.get("percent", 0)), whole=True)
    return Delay(share, parse_duration(data["fixedDelay"]))


def _abort(data: Mapping[str, Any]) -> Abort:
    return Abort(percentage(data.get("percentage")), data.get("httpStatus"), data.get("grpcStatus"))


def cors(data: Mapping[str, Any]) -> Cors:
    """The view of a route's `corsPolicy`. The older `allowOrigin` counts where there is no `allowOrigins`."""
    old = [{"exact": origin} for origin in data.get("allowOrigin", ())]
    named = tuple(match for each in data.get("allowOrigins", old) if (match := string_match(each)))
    age = data.get("maxAge")
    return Cors(
        named,
        tuple(data.get("allowMethods", ())),
        tuple(data.get("allowHeaders", ())),
        tuple(data.get("exposeHeaders", ())),
        None if age is None else parse_duration(age),
        data.get("allowCredentials"),
        data.get("unmatchedPreflights") != "IGNORE",
    )
