"""What is looked at, and what does each fact mean? One table: CHECKS of what is around, SHIFT_CHECKS of each shift."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from control.doctor.facts import Around, OfShift, Rights
from mesh.istio.lint import Level as LintLevel

LABELS = ("destination_service", "destination_version", "response_code", "reporter")
"""Of every series: what is empty, such as the gRPC status of plain HTTP, Prometheus leaves out."""
FRESH_SCRAPES, CLOCK_S = 3, 5.0


class Level(StrEnum):
    """How bad it is. Unknown: it could not be asked from here, which is neither good nor bad."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: what was looked at, what was seen, and what to do about it."""

    code: str
    level: Level
    about: str
    seen: str
    advice: str = ""


Said = tuple[Level, str]
"""How bad, and what was seen."""
OK, WARN, FAIL, UNKNOWN = Level


@dataclass(frozen=True, slots=True)
class Check:
    """`look` says nothing where there is nothing to say: of a laptop's istiod, say."""

    code: str
    title: str
    look: Callable[[Around], Iterator[Said]]
    advice: str


@dataclass(frozen=True, slots=True)
class ShiftCheck:
    code: str
    title: str
    look: Callable[[OfShift, Around], Iterator[Said]]
    advice: str


def findings(around: Around, shifts: tuple[OfShift, ...]) -> tuple[Finding, ...]:
    """All lines, what is around first."""
    return (*_around(around), *(each for shift in shifts for each in _of(shift, around)))


def _around(around: Around) -> Iterator[Finding]:
    for check in CHECKS:
        for level, seen in check.look(around):
            yield Finding(check.code, level, check.title, seen, "" if level is OK else check.advice)


def _of(shift: OfShift, around: Around) -> Iterator[Finding]:
    for check in SHIFT_CHECKS:
        for level, seen in check.look(shift, around):
            yield Finding(check.code, level, f"{shift.name}: {check.title}", seen, "" if level is OK else check.advice)


def _kind(around: Around) -> Iterator[Said]:
    kind = around.kind
    if kind is None:
        return
    if kind.installed is None:
        yield UNKNOWN, kind.trouble
    elif not kind.installed:
        yield FAIL, "the API server does not know TrafficShifts"
    elif missing := sorted(kind.known - kind.fields):
        yield WARN, f"it is older than this tool: it drops {', '.join(missing)}"
    elif more := sorted(kind.fields - kind.known):
        yield WARN, f"it is newer than this tool, which does not know {', '.join(more)}"
    else:
        yield OK, "installed, with the fields that this tool knows"


def _rights(rights: Rights | None) -> Iterator[Said]:
    if rights is None:
        return
    refused = sorted(name for name, allowed in rights.allowed.items() if not allowed)
    if rights.trouble:
        yield UNKNOWN, rights.trouble
    elif refused:
        yield FAIL, f"refused: {', '.join(refused)}"
    else:
        yield OK, f"all {len(rights.allowed)} that are needed"


def _policies(around: Around) -> Iterator[Said]:
    for name, stands in (around.policies or {}).items():
        if stands is None:
            yield UNKNOWN, f"{name} may not be looked at"
        else:
            yield (OK, f"{name} denies") if stands else (WARN, f"{name} is not in force")


def _lease(around: Around) -> Iterator[Said]:
    lease = around.lease
    if lease is None:
        return
    if lease.trouble:
        yield UNKNOWN, lease.trouble
    elif not lease.holder:
        yield FAIL, "nobody leads: no controller is running"
    elif lease.age_s > lease.lasts_s:
        yield FAIL, f"{lease.holder} has not renewed it for {lease.age_s:.0f} s"
    else:
        yield OK, f"{lease.holder} leads"


def _istiods(around: Around) -> Iterator[Said]:
    for each in around.istiods or ():
        if each.proxies is None:
            yield WARN, each.trouble
        else:
            yield (OK if each.proxies else WARN), f"{each.address} sends routes to {each.proxies} proxies"
    if around.istiods == ():
        yield WARN, "no istiod is named or found"


def _prometheus(around: Around) -> Iterator[Said]:
    found = around.prometheus
    if not found.url:
        return
    if found.trouble:
        yield FAIL, found.trouble
        return
    missing = [each for each in LABELS if each not in found.labels]
    if not found.labels:
        yield WARN, f"{found.url} has no istio_requests_total yet"
    elif missing:
        yield FAIL, f"istio_requests_total has no label {', '.join(missing)}"
    else:
        yield OK, f"{found.url} has istio_requests_total with its labels"


def _clock(around: Around) -> Iterator[Said]:
    age, interval = around.prometheus.age_s, around.prometheus.interval_s
    if age is None or interval is None:
        return
    if age < -CLOCK_S:
        yield WARN, f"its newest sample is {-age:.0f} s in the future: the clocks differ"
    elif age > FRESH_SCRAPES * interval + CLOCK_S:
        yield WARN, f"its newest sample is {age:.0f} s old, at a scrape each {interval:g} s"
    else:
        yield OK, f"scraped each {interval:g} s, last {max(age, 0):.0f} s ago"


def _shifts(around: Around) -> Iterator[Said]:
    if around.trouble:
        yield FAIL, around.trouble


def _programs(around: Around) -> Iterator[Said]:
    for each in around.programs:
        yield (OK, f"{each.name}: {each.path}") if each.path else (FAIL, f"{each.name} is not there: {each.hint}")


def _documents(shift: OfShift, _around: Around) -> Iterator[Said]:
    if shift.seen is None:
        yield UNKNOWN, shift.trouble
        return
    for route in shift.seen.routes:
        yield (FAIL, f"{route.name}: {route.message}") if route.problem else (OK, f"{route.name} names both versions")


def _lint(shift: OfShift, _around: Around) -> Iterator[Said]:
    if shift.seen is None:
        return
    if shift.linted is None:
        yield UNKNOWN, "the documents could not be read"
    elif not shift.linted:
        yield OK, "lint finds nothing in its documents"
    for each in shift.linted or ():
        yield FAIL if each.level is LintLevel.ERROR else WARN, f"{each.sentence} ({each.code})"


def _hands_off(shift: OfShift, _around: Around) -> Iterator[Said]:
    if shift.seen is not None and shift.seen.hands_off:
        yield WARN, "the annotation tidegate.dev/hands-off stops every write"


def _endpoints(shift: OfShift, _around: Around) -> Iterator[Said]:
    if shift.seen is None:
        return
    ready = (shift.seen.stable_endpoints, shift.seen.canary_endpoints)
    for version, count in zip(shift.versions, ready, strict=True):
        if count is None:
            yield UNKNOWN, f"{version}: {shift.seen.endpoints_message}"
        elif count:
            yield OK, f"{version} has {count} ready"
        else:
            yield FAIL, f"{version} has no ready endpoint {shift.seen.endpoints_message}".strip()


def _proxies(shift: OfShift, _around: Around) -> Iterator[Said]:
    for route in shift.seen.routes if shift.seen is not None else ():
        if route.problem:
            continue
        if not route.known:
            yield UNKNOWN, f"{route.name}: nobody can say which proxies run it; a step waits for `settle`"
        elif route.late:
            yield WARN, f"{route.name}: {', '.join(route.late[:5])} run other weights than the document's"
        elif not route.holders and not route.spare:
            yield WARN, f"{route.name}: no proxy holds it, so no request is sent by it; does another document win?"
        else:
            yield OK, f"{route.name}: {len(route.acknowledged)} proxies run what it says"


def _counted(shift: OfShift, around: Around) -> Iterator[Said]:
    if shift.seen is None:
        return
    if shift.needs_prometheus and not around.prometheus.url:
        yield UNKNOWN, "no Prometheus is named here (TIDEGATE_PROMETHEUS_URL)"
        return
    if not shift.seen.readable:
        yield FAIL, f"the metrics can't be read: {shift.seen.metrics_message}"
    elif shift.seen.unseen:
        yield WARN, f"nothing is counted of {', '.join(shift.seen.unseen)}"
    else:
        yield OK, "both versions are counted"
    yield from ((FAIL, f"{name}: {why}") for name, why in shift.seen.troubles.items())


def _scraped(shift: OfShift, around: Around) -> Iterator[Said]:
    interval = around.prometheus.interval_s
    if not shift.needs_prometheus or interval is None:
        return
    if shift.poll_s < interval:
        yield WARN, f"it looks each {shift.poll_s:g} s at counters that are read each {interval:g} s"
    else:
        yield OK, f"it looks each {shift.poll_s:g} s, counters are read each {interval:g} s"


CHECKS: tuple[Check, ...] = (
    Check("KIND", "the kind TrafficShift", _kind, "apply mesh/manifests/kubernetes/base/crd.yaml of this version"),
    Check("YOURS", "your own rights", lambda around: _rights(around.yours), "ask for the role edit in that namespace"),
    Check(
        "RIGHTS", "the controller's rights", lambda around: _rights(around.controllers),
        "apply mesh/manifests/kubernetes/cluster, or bind tidegate-traffic in the namespace",
    ),
    Check("POLICY", "admission policies", _policies, "apply mesh/manifests/kubernetes/base/policies.yaml"),
    Check("LEASE", "who leads", _lease, "look at the controller's pods and their log"),
    Check("ISTIOD", "istiod's debug interface", _istiods, "set TIDEGATE_ISTIOD; a step waits for `settle` without it"),
    Check("PROM", "Prometheus", _prometheus, "scrape the sidecars and gateways (port 15020) with their labels"),
    Check("SCRAPE", "its samples", _clock, "look at the targets of this Prometheus, and at both clocks"),
    Check("LAPTOP", "this machine", _programs, "run make setup again"),
    Check(
        "SHIFTS", "the shifts", _shifts, "on a laptop: tidegate up --detach; on a cluster: what KIND and YOURS say"
    ),
)  # fmt: skip
SHIFT_CHECKS: tuple[ShiftCheck, ...] = (
    ShiftCheck("ROUTE", "its routes", _documents, "mend the VirtualService, or the target of the shift"),
    ShiftCheck(
        "LINT", "its documents", _lint, "tidegate lint on the files they come from says where, and how to mend it"
    ),
    ShiftCheck("HANDS", "hands off", _hands_off, "take the annotation away when it may go on"),
    ShiftCheck("READY", "its endpoints", _endpoints, "a subset needs a DestinationRule and ready pods with its labels"),
    ShiftCheck(
        "PROXY", "its proxies", _proxies, "tidegate lint says which documents are hidden; istioctl proxy-status"
    ),
    ShiftCheck("COUNT", "its counters", _counted, "see docs/metrics.md for what must be scraped, and by which labels"),
    ShiftCheck("POLL", "its poll", _scraped, "give the shift a poll of a scrape interval or more"),
)
