"""How did the canary's share and the evidence go over the time of a run? As the journal tells it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from control.view import read

LEEWAY = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """A value at a time. Units: seconds since the run began; a share 0 to 1, or odds."""

    at_s: float
    value: float


def _moments(
    journal: Sequence[Mapping[str, Any]],
    value_of: Callable[[Mapping[str, Any]], Fraction | float | None],
    began: datetime | None,
    until: datetime,
) -> list[Moment]:
    """What the journal says of the run, in order of time."""
    if began is None:
        return []
    known = [(read.moment(entry.get("at")), value_of(entry)) for entry in journal]
    told = sorted((at, float(value)) for at, value in known if at is not None and value is not None)
    within = (began - LEEWAY, until + LEEWAY)
    return [Moment(seconds_of(at - began), value) for at, value in told if within[0] <= at <= within[1]]


def _share(entry: Mapping[str, Any]) -> Fraction | None:
    return read.share(entry.get("share"))


def _harm(entry: Mapping[str, Any]) -> float | None:
    return read.ratio(entry, "harm")


def share_over_time(
    journal: Sequence[Mapping[str, Any]], status: Mapping[str, Any], began: datetime | None, until: datetime
) -> tuple[Moment, ...]:
    """The canary's share as the journal tells it; where that tells nothing, as the steps do."""
    return tuple(_moments(journal, _share, began, until) or _steps(status, began))


def _steps(status: Mapping[str, Any], began: datetime | None) -> list[Moment]:
    """The shares of the steps, where the journal tells of none."""
    found = [(read.moment(step.get("enteredAt")), read.share(step.get("share"))) for step in read.rows(status, "steps")]
    known = [(at, share) for at, share in found if at is not None and share is not None and began is not None]
    return [Moment(seconds_of(at - began), float(share)) for at, share in known if began is not None]


def seconds_of(span: timedelta) -> float:
    """Units: seconds, none below 0."""
    return max(span.total_seconds(), 0.0)


def evidence_over_time(
    journal: Sequence[Mapping[str, Any]], status: Mapping[str, Any], began: datetime | None, until: datetime
) -> tuple[Moment, ...]:
    """Evidence for harm of all metrics together: none at first, then as decisions had it, then as it is now."""
    found, now = _moments(journal, _harm, began, until), read.ratio(status, "harm")
    if began is None or (now is None and not found):
        return ()
    last = max(seconds_of(until - began), found[-1].at_s if found else 0.0)
    return (Moment(0.0, 1.0), *found, *([Moment(last, now)] if now is not None else []))
