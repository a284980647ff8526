"""Each thing that doctor looks at: good, bad, and not to be asked. A row a case."""

from dataclasses import replace
from fractions import Fraction

import pytest

from control.doctor.checks import CHECKS, LABELS, SHIFT_CHECKS, Level, findings
from control.doctor.facts import Around, Istiod, Kind, Lease, Linted, OfShift, Program, Rights, Scraped
from control.engine.decision import Cause
from control.engine.observation import RouteNow
from mesh.istio.lint import Level as LintLevel
from tests.support.situations import seen

OK, WARN, FAIL, UNKNOWN = Level
KNOWN = frozenset({"stable", "canary"})
SERIES = Scraped("http://p:9090", frozenset(LABELS), 5.0, 3.0)
AROUND: list[tuple[str, Around, list[tuple[Level, str]]]] = [
    ("KIND", Around(), []),
    ("KIND", Around(kind=Kind(trouble="403")), [(UNKNOWN, "403")]),
    ("KIND", Around(kind=Kind(installed=False)), [(FAIL, "the API server does not know TrafficShifts")]),
    (
        "KIND", Around(kind=Kind(True, frozenset({"stable"}), KNOWN)),
        [(WARN, "it is older than this tool: it drops canary")],
    ),
    (
        "KIND", Around(kind=Kind(True, KNOWN | {"tide"}, KNOWN)),
        [(WARN, "it is newer than this tool, which does not know tide")],
    ),
    ("KIND", Around(kind=Kind(True, KNOWN, KNOWN)), [(OK, "installed, with the fields that this tool knows")]),
    ("YOURS", Around(yours=Rights({"patch x": True})), [(OK, "all 1 that are needed")]),
    ("RIGHTS", Around(controllers=Rights({"patch x": False, "get y": True})), [(FAIL, "refused: patch x")]),
    ("RIGHTS", Around(controllers=Rights(trouble="you may not ask")), [(UNKNOWN, "you may not ask")]),
    (
        "POLICY", Around(policies={"a": True, "b": False, "c": None}),
        [(OK, "a denies"), (WARN, "b is not in force"), (UNKNOWN, "c may not be looked at")],
    ),
    ("SHIFTS", Around(), []),
    ("SHIFTS", Around(trouble="no mesh runs in /x"), [(FAIL, "no mesh runs in /x")]),
    ("LEASE", Around(lease=Lease()), [(FAIL, "nobody leads: no controller is running")]),
    ("LEASE", Around(lease=Lease("c-0", 3, 15)), [(OK, "c-0 leads")]),
    ("LEASE", Around(lease=Lease("c-0", 40, 15)), [(FAIL, "c-0 has not renewed it for 40 s")]),
    ("LEASE", Around(lease=Lease(trouble="403")), [(UNKNOWN, "403")]),
    ("ISTIOD", Around(istiods=()), [(WARN, "no istiod is named or found")]),
    (
        "ISTIOD", Around(istiods=(Istiod("i", 2), Istiod("j", 0), Istiod("k", trouble="k refuses (401)"))),
        [(OK, "i sends routes to 2 proxies"), (WARN, "j sends routes to 0 proxies"), (WARN, "k refuses (401)")],
    ),
    ("PROM", Around(), []),
    ("PROM", Around(prometheus=Scraped("u", trouble="refused")), [(FAIL, "refused")]),
    ("PROM", Around(prometheus=Scraped("u")), [(WARN, "u has no istio_requests_total yet")]),
    (
        "PROM", Around(prometheus=Scraped("u", frozenset(LABELS) - {"reporter"})),
        [(FAIL, "istio_requests_total has no label reporter")],
    ),
    ("PROM", Around(prometheus=SERIES), [(OK, "http://p:9090 has istio_requests_total with its labels")]),
    ("SCRAPE", Around(), []),
    ("SCRAPE", Around(prometheus=SERIES), [(OK, "scraped each 5 s, last 3 s ago")]),
    (
        "SCRAPE", Around(prometheus=replace(SERIES, age_s=-60.0)),
        [(WARN, "its newest sample is 60 s in the future: the clocks differ")],
    ),
    (
        "SCRAPE", Around(prometheus=replace(SERIES, age_s=90.0)),
        [(WARN, "its newest sample is 90 s old, at a scrape each 5 s")],
    ),
    (
        "LAPTOP", Around(programs=(Program("envoy", "/bin/envoy", "x"), Program("redis", "", "apt-get install it"))),
        [(OK, "envoy: /bin/envoy"), (FAIL, "redis is not there: apt-get install it")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("code", "around", "said"), AROUND)
def test_what_is_around(code: str, around: Around, said: list[tuple[Level, str]]) -> None:
    (check,) = (each for each in CHECKS if each.code == code)
    assert list(check.look(around)) == said


ROUTE = RouteNow("shop/cart", "cart", "1", Fraction(0), True, holders=("a", "b"), acknowledged=("a", "b"))
TAKEN = Linted("IST0109", "two documents for cart", LintLevel.ERROR)
CLUSTER, NAMED = Around(kind=Kind(True)), Around(kind=Kind(True), prometheus=SERIES)


def a_shift(**changes: object) -> OfShift:
    return OfShift("cart", seen(**{"routes": (ROUTE,), **changes}), 5.0, True, ("v1", "v2"))


def routes(**changes: object) -> OfShift:
    return a_shift(routes=(replace(ROUTE, **changes),))  # type: ignore[arg-type]


OF_SHIFTS: list[tuple[str, OfShift, Around, list[tuple[Level, str]]]] = [
    ("ROUTE", OfShift("cart", trouble="its document has mistakes"), CLUSTER, [(UNKNOWN, "its document has mistakes")]),
    ("ROUTE", a_shift(), CLUSTER, [(OK, "cart names both versions")]),
    ("ROUTE", routes(problem=Cause.ROUTE_MISSING, message="it is gone"), CLUSTER, [(FAIL, "cart: it is gone")]),
    ("LINT", OfShift("cart"), CLUSTER, []),
    ("LINT", a_shift(), CLUSTER, [(UNKNOWN, "the documents could not be read")]),
    ("LINT", replace(a_shift(), linted=()), CLUSTER, [(OK, "lint finds nothing in its documents")]),
    (
        "LINT", replace(a_shift(), linted=(TAKEN, Linted("TG007", "a header", LintLevel.WARNING))), CLUSTER,
        [(FAIL, "two documents for cart (IST0109)"), (WARN, "a header (TG007)")],
    ),
    ("HANDS", a_shift(), CLUSTER, []),
    ("HANDS", routes(hands_off=True), CLUSTER, [(WARN, "the annotation tidegate.dev/hands-off stops every write")]),
    ("READY", OfShift("cart"), CLUSTER, []),
    ("READY", a_shift(), CLUSTER, [(OK, "v1 has 1 ready"), (OK, "v2 has 1 ready")]),
    (
        "READY", a_shift(canary_endpoints=0, stable_endpoints=None, endpoints_message="(no subset v2)"), CLUSTER,
        [(UNKNOWN, "v1: (no subset v2)"), (FAIL, "v2 has no ready endpoint (no subset v2)")],
    ),
    ("PROXY", OfShift("cart"), CLUSTER, []),
    ("PROXY", a_shift(), CLUSTER, [(OK, "cart: 2 proxies run what it says")]),
    ("PROXY", routes(problem=Cause.ROUTE_MISSING), CLUSTER, []),
    (
        "PROXY", routes(known=False), CLUSTER,
        [(UNKNOWN, "cart: nobody can say which proxies run it; a step waits for `settle`")],
    ),
    ("PROXY", routes(acknowledged=("a",)), CLUSTER, [(WARN, "cart: b run other weights than the document's")]),
    (
        "PROXY", routes(holders=(), acknowledged=()), CLUSTER,
        [(WARN, "cart: no proxy holds it, so no request is sent by it; does another document win?")],
    ),
    ("PROXY", routes(holders=(), acknowledged=(), spare=True), CLUSTER, [(OK, "cart: 0 proxies run what it says")]),
    ("COUNT", OfShift("cart"), NAMED, []),
    ("COUNT", a_shift(), NAMED, [(OK, "both versions are counted")]),
    ("COUNT", a_shift(), CLUSTER, [(UNKNOWN, "no Prometheus is named here (TIDEGATE_PROMETHEUS_URL)")]),
    ("COUNT", a_shift(unseen=("v2",)), NAMED, [(WARN, "nothing is counted of v2")]),
    (
        "COUNT", a_shift(readable=False, metrics_message="a timeout", troubles={"misses": "two series"}), NAMED,
        [(FAIL, "the metrics can't be read: a timeout"), (FAIL, "misses: two series")],
    ),
    ("COUNT", replace(a_shift(), needs_prometheus=False), Around(), [(OK, "both versions are counted")]),
    ("POLL", a_shift(), CLUSTER, []),
    ("POLL", a_shift(), NAMED, [(OK, "it looks each 5 s, counters are read each 5 s")]),
    ("POLL", replace(a_shift(), poll_s=1.0), NAMED, [(WARN, "it looks each 1 s at counters that are read each 5 s")]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "shift", "around", "said"), OF_SHIFTS)
def test_what_a_shift_needs(code: str, shift: OfShift, around: Around, said: list[tuple[Level, str]]) -> None:
    (check,) = (each for each in SHIFT_CHECKS if each.code == code)
    assert list(check.look(shift, around)) == said


def test_each_check_has_its_rows() -> None:
    assert {row[0] for row in (*AROUND, *OF_SHIFTS)} == {each.code for each in (*CHECKS, *SHIFT_CHECKS)}


def test_what_is_ok_needs_no_advice_and_everything_else_has_some() -> None:
    around = Around(lease=Lease("c-0", 3, 15), policies={"a": False}, prometheus=SERIES)
    found = findings(around, (a_shift(), routes(known=False)))
    assert {bool(each.advice) for each in found if each.level is OK} == {False}
    assert {bool(each.advice) for each in found if each.level is not OK} == {True}
    assert [each.about for each in found if each.code == "PROXY"] == ["cart: its proxies"] * 2
