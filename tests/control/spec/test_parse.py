"""A TrafficShift's text: what is understood, and that every mistake is named at once, with its place."""

import time
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given

from control.errors import SpecError
from control.spec import (
    OnDeadline,
    OnDelete,
    OnFailure,
    StepStrategy,
    Target,
    TrafficShift,
    from_document,
    parse_shift,
    to_document,
)
from mesh.traffic import RouteRef
from tests.support.spec_shifts import QUICK, shifts

GOOD = """\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {name: translator, namespace: shop}
spec:
  target:
    host: translator
    routes:
      - {virtualService: translator, route: primary}
      - {virtualService: edge, namespace: istio-ingress}
  stable: v1
  canary: v2
  poll: 2s
  strategy:
    kind: steps
    steps: [1%, 0.05, 20%, 1/2, 100%]
    hold: 10s
  onFailure: rollback
""".replace("0.05", "5%")


def parse(text: str) -> TrafficShift:
    return parse_shift(text.encode(), "shift.yaml")


def problems(text: str | bytes) -> list[str]:
    with pytest.raises(SpecError) as caught:
        parse_shift(text if isinstance(text, bytes) else text.encode(), "shift.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_the_text_is_understood() -> None:
    assert parse(GOOD) == TrafficShift(
        name="translator",
        namespace="shop",
        target=Target(
            "translator",
            (RouteRef("shop", "translator", "primary"), RouteRef("istio-ingress", "edge", None)),
        ),
        stable="v1",
        canary="v2",
        strategy=StepStrategy(
            (Fraction(1, 100), Fraction(1, 20), Fraction(1, 5), Fraction(1, 2), Fraction(1)), timedelta(seconds=10), 20
        ),
        poll=timedelta(seconds=2),
    )


def test_defaults_are_filled_in() -> None:
    found = parse(GOOD.replace("  onFailure: rollback\n", ""))
    assert (found.on_failure, found.on_delete, found.on_deadline) == (
        OnFailure.ROLLBACK,
        OnDelete.STABLE,
        OnDeadline.HOLD,
    )
    assert found.deadline is None
    assert found.strategy == StepStrategy(found.strategy.shares, timedelta(seconds=10), 20)


def test_a_short_host_belongs_to_the_shifts_namespace() -> None:
    assert parse(GOOD).host == "translator.shop.svc.cluster.local"
    assert parse(GOOD.replace("host: translator", "host: t.example.com")).host == "t.example.com"


def test_a_status_may_come_along_and_is_ignored() -> None:
    assert parse(GOOD + "status: {phase: Promoted}\n") == parse(GOOD)


def test_hands_off_is_an_annotation() -> None:
    text = GOOD.replace("namespace: shop}", 'namespace: shop, annotations: {tidegate.dev/hands-off: "true"}}')
    assert parse(text).hands_off
    assert not parse(GOOD).hands_off
    assert parse(text).generation == parse(GOOD).generation


MISTAKES = {
    "an unknown field is named with the nearest known one": (
        GOOD.replace("canary: v2", "canery: v2"),
        [
            "shift.yaml:5:3: spec.canary is missing",
            "shift.yaml:11:3: spec.canery: no such field (did you mean canary?)",
        ],
    ),
    "an unknown field that resembles nothing gets the list": (
        GOOD.replace("poll: 2s", "zzz: 2s"),
        ["shift.yaml:12:3: spec.zzz: no such field (known here: target, stable, canary, strategy, metrics, "],
    ),
    "an unknown field of a route": (
        GOOD.replace("route: primary", "rout: primary"),
        ["shift.yaml:8:38: spec.target.routes[1].rout: no such field (did you mean route?)"],
    ),
    "an unknown field at the top": (GOOD + "specs: {}\n", ["18:1: specs: no such field (did you mean spec?)"]),
    "the same version twice": (
        GOOD.replace("canary: v2", "canary: v1"),
        ["shift.yaml:11:11: spec.canary: stable and canary are both 'v1'"],
    ),
    "an empty list of steps": (
        GOOD.replace("[1%, 5%, 20%, 1/2, 100%]", "[]"),
        ["shift.yaml:15:12: spec.strategy.steps: list should have at least 1 item"],
    ),
    "descending steps": (
        GOOD.replace("[1%, 5%, 20%, 1/2, 100%]", "[20%, 5%, 100%]"),
        ["shift.yaml:15:18: spec.strategy.steps[2]: 5% comes after 20%"],
    ),
    "repeated steps, however they are written": (
        GOOD.replace("[1%, 5%, 20%, 1/2, 100%]", "[50%, 1/2, 100%]"),
        ["shift.yaml:15:18: spec.strategy.steps[2]: 50% is repeated"],
    ),
    "a step over 100 %": (
        GOOD.replace("[1%, 5%, 20%, 1/2, 100%]", "[50%, 120%]"),
        [
            "shift.yaml:15:13: spec.strategy.steps[1]: the last step must be 100%",
            "shift.yaml:15:18: spec.strategy.steps[2]: 120% is more than 100%",
        ],
    ),
    "a step of 0 %": (
        GOOD.replace("[1%,", "[0%,"),
        ["shift.yaml:15:13: spec.strategy.steps[1]: 0% is no step"],
    ),
    "a last step below 100 %": (
        GOOD.replace(", 100%]", "]"),
        ["spec.strategy.steps[4]: the last step must be 100% (to stay below, pause the shift there"],
    ),
    "steps that are no list": (
        GOOD.replace("[1%, 5%, 20%, 1/2, 100%]", "5%"),
        ["shift.yaml:15:12: spec.strategy.steps: '5%' is no list"],
    ),
    "a number where a duration belongs": (
        GOOD.replace("poll: 2s", "poll: 2"),
        ["12:9: spec.poll: 2 is not a duration"],
    ),
    "a poll that is too fast": (GOOD.replace("poll: 2s", "poll: 1ms"), ["12:9: spec.poll: 1ms is not between 0.1 s"]),
    "an unknown policy": (
        GOOD.replace("onFailure: rollback", "onFailure: panic"),
        ["17:14: spec.onFailure: 'panic' is not possible (expected 'rollback' or 'hold')"],
    ),
    "an unknown kind of strategy": (GOOD.replace("kind: steps", "kind: magic"), ["14:11: spec.strategy.kind: 'magic'"]),
    "another apiVersion": (GOOD.replace("v1alpha1", "v9"), ["1:13: apiVersion: 'tidegate.dev/v9' is not possible"]),
    "nearly labels": (
        GOOD.replace("namespace: shop}", "namespace: shop, labells: {a: b}}"),
        ["3:47: metadata.labells: no such field (did you mean labels?)"],
    ),
    "a name that is no name": (GOOD.replace("name: translator,", "name: Trans_lator,"), ["3:18: metadata.name: "]),
    "a route named twice": (
        GOOD.replace(
            "{virtualService: edge, namespace: istio-ingress}", "{route: primary, virtualService: translator}"
        ),
        ["9:9: spec.target.routes[2]: this route is named twice"],
    ),
    "no route": (
        GOOD.replace(
            "routes:\n      - {virtualService: translator, route: primary}\n"
            "      - {virtualService: edge, namespace: istio-ingress}\n",
            "routes: []\n",
        ),
        ["7:13: spec.target.routes: list should have at least 1 item"],
    ),
    "too few requests": (
        GOOD.replace("hold: 10s", "minRequests: 0"),
        ["16:18: spec.strategy.minRequests: input should"],
    ),
    "a key given twice": (
        GOOD + "kind: TrafficShift\n",
        ["18:1: the key 'kind' appears twice, first in line 2, column 1"],
    ),
    "a spec that is a list": (GOOD.partition("spec:")[0] + "spec: [1]\n", ["4:7: spec: [1] is no mapping"]),
    "a number that YAML can't read": (
        GOOD.replace("poll: 2s", "poll: !!int abc"),
        ["12:9: 'abc' doesn't fit its tag"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_named_with_its_place(text: str, expected: list[str]) -> None:
    found = problems(text)
    for line in expected:
        assert any(line in each for each in found), found


def test_all_mistakes_come_at_once_in_the_order_of_the_text() -> None:
    text = GOOD.replace("host: translator", "host: Trans later").replace("[1%,", "[7%,").replace("rollback", "panic")
    assert [line.split(": ")[0] for line in problems(text)] == [
        "shift.yaml:6:11",
        "shift.yaml:15:17",
        "shift.yaml:17:14",
    ]


UNREADABLE = {
    "no text at all": (b"", "this is no TrafficShift"),
    "a list": (b"- 1\n", "this is no TrafficShift"),
    "not YAML": (b"a: [1\n", "shift.yaml:2:1: not valid YAML"),
    "two documents": (b"a: 1\n---\nb: 2\n", "shift.yaml:2:1: a second document begins here"),
    "not UTF-8": (b"a: 1\nb: \xff\n", "shift.yaml:2:4: not UTF-8: byte 0xff"),
    "too long": (b"#" * 300_000, "the file has more than 262,144 bytes"),
    "nested too deeply": (b"[" * 100_000, "nested more than 64 levels deep"),
    "nested too deeply in blocks": (b"- " * 100_000, "nested more than 64 levels deep"),
    "nested too deeply both ways": (b"[{a: " * 50_000, "nested more than 64 levels deep"),
    "too many values": (b"[" + b"1," * 100_000 + b"]", "more than 10,000 values"),
    "a control character": (b"a: \x01\n", "shift.yaml:1:4: control character U+0001"),
    "a billion laughs": (
        b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 10)) for i in range(9)),
        "stand for more than 10,000 nodes",
    ),
}


@pytest.mark.parametrize(("raw", "complaint"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_document_is_refused(raw: bytes, complaint: str) -> None:
    began = time.process_time()
    assert complaint in problems(raw)[0]
    assert time.process_time() - began < 1


def test_a_key_given_twice_hides_no_other_mistake() -> None:
    found = problems(GOOD.replace("canary: v2", "canary: v1") + "kind: TrafficShift\n")
    assert [line.split(": ")[0] for line in found] == ["shift.yaml:11:11", "shift.yaml:18:1"]


@pytest.mark.parametrize("text", ["---\n" + GOOD, GOOD + "---\n", "# why\n" + GOOD + "...\n", "\ufeff" + GOOD])
def test_marks_around_the_document_are_no_second_one(text: str) -> None:
    assert parse(text) == parse(GOOD)


def test_a_timestamp_stays_text() -> None:
    assert "spec.stable: '2026-01-01' is not" not in str(problems(GOOD.replace("stable: v1", "stable: 2026-01-01x_")))
    assert parse(GOOD.replace("stable: v1", "stable: 2026-01-01")).stable == "2026-01-01"


@QUICK
@given(shifts())
def test_a_document_reads_back(shift: TrafficShift) -> None:
    assert from_document(to_document(shift)) == shift


@QUICK
@given(shifts())
def test_the_generation_follows_the_spec(shift: TrafficShift) -> None:
    assert shift.generation == replace(shift, annotations=()).generation
    assert shift.generation != replace(shift, poll=shift.poll + timedelta(milliseconds=1)).generation


@pytest.mark.parametrize(
    "more",
    [
        "uid: a, resourceVersion: '1', generation: 2, creationTimestamp: null, managedFields: [], ownerReferences: []",
        "generateName: a, finalizers: [], selfLink: a, deletionTimestamp: null, deletionGracePeriodSeconds: 1",
        "labels: {a: b}, annotations: {a: b}",
        "somethingOfTheirs: 1",
    ],
    ids=["Kubernetes adds it", "Kubernetes adds it sometimes", "people write it", "nobody knows it"],
)
def test_what_else_metadata_may_hold(more: str) -> None:
    assert (
        parse_shift(GOOD.replace("namespace: shop}", f"namespace: shop, {more}}}").encode(), "x").name == "translator"
    )
