"""A TrafficShift at one moment of a run, as the controller would send it. Every field can be overridden."""

from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime(2026, 11, 30, 12, 1, 0, tzinfo=UTC)


def at(seconds: float) -> str:
    """A time so many seconds after NOW, in RFC 3339."""
    return (NOW + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def spec(**changes: Any) -> dict[str, Any]:
    strategy = {"kind": "steps", "steps": ["1%", "5%", "20%", "50%", "100%"], "hold": "10s", "minRequests": 20}
    routes = [{"virtualService": "translator", "route": "primary"}, {"virtualService": "edge"}]
    target = {"host": "translator", "routes": routes}
    base = {"target": target, "stable": "v1", "canary": "v2", "poll": "2s", "strategy": strategy}
    return {**base, "onFailure": "rollback", **changes}


def step(number: int, share: str, **changes: Any) -> dict[str, Any]:
    """A step that was entered 20 s ago, acknowledged 20 ms later, left after 10 s."""
    counts = {"requests": 2000, "failures": 0, "retries": 4}
    base = {"step": number, "share": share, "configured": share, "acknowledged": share, "observedRatio": 0.01}
    times = {"enteredAt": at(-20), "acknowledgedAt": at(-19.98), "leftAt": at(-10)}
    seen = {"stable": counts, "canary": {"requests": 21, "failures": 1, "retries": 2}}
    return {**base, **times, **seen, "decision": "advance", "sentence": "No harm seen in 21 requests.", **changes}


def evidence(metric: str = "outcomes", verdict: str = "pass", **changes: Any) -> dict[str, Any]:
    """One test, 3 of 120 beside 1 of 2,400, until a test says otherwise. `metric` may be the name of a test."""
    counts = {"stable": {"requests": 2400, "bad": 1}, "canary": {"requests": 120, "bad": 3}}
    margins = {"tolerated": {"ratio": 1.1, "extra": 0.0005}, "proven": {"ratio": 1.25, "extra": 0.005}}
    found = {"harm": 1.5, "proof": 3.1, "phi": 1.2, "difference": {"estimate": 0.0246, "low": -0.0042, "high": 0.091}}
    names = {"metric": metric.partition(">")[0], "test": metric, "verdict": verdict}
    return {**names, **found, **margins, "sentence": "v2 is as good as v1.", **counts, **changes}


def status(**changes: Any) -> dict[str, Any]:
    """Step 2 of 5, waiting for requests."""
    current = step(2, "1/20", enteredAt=at(-9), acknowledgedAt=at(-8.99), leftAt=None, decision="hold", sentence="")
    base = {
        "phase": "Progressing",
        "step": 2,
        "totalSteps": 5,
        "stepShare": "1/20",
        "share": {"configured": "1/20", "acknowledged": "1/20", "observedRatio": 0.0497},
        "verdict": "insufficient",
        "reason": "v2 has answered 12 of the 20 requests that are needed.",
        "waitingFor": "8 more requests of v2",
        "waitingSince": at(-3),
        "waitingUntil": at(7),
        "nextCommand": "tidegate promote translator",
        "startedAt": at(-20),
        "stepEnteredAt": at(-9),
        "evidence": [evidence("outcomes", "insufficient"), evidence("attempts")],
        "steps": [step(1, "1/100"), current],
        "canaryEndpoints": 1,
        "stableEndpoints": 2,
    }
    return {**base, **changes}


def document(status_: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A whole document; `changes` are of its spec."""
    head = {"apiVersion": "tidegate.dev/v1alpha1", "kind": "TrafficShift"}
    meta = {"name": "translator", "namespace": "default"}
    return {**head, "metadata": meta, "spec": spec(**changes), "status": status() if status_ is None else status_}


def promoted() -> dict[str, Any]:
    """A run that ended well, 5 s ago."""
    shares = ("1/100", "1/20", "1/5", "1/2", "1")
    steps = [step(i, share) for i, share in enumerate(shares, 1)]
    done = {"phase": "Promoted", "step": 5, "verdict": "pass", "reason": "v2 passed all steps.", "waitingFor": ""}
    share = {"configured": "1", "acknowledged": "1", "observedRatio": 1.0}
    times = {"finishedAt": at(-5), "waitingUntil": None}
    return document(status(**done, **times, share=share, steps=steps, nextCommand="tidegate history translator"))


def rolled_back() -> dict[str, Any]:
    """A run that ended at its second step, 5 s ago and 3 s after the first bad try."""
    bad = step(2, "1/20", decision="roll_back", sentence="v2 fails more often than v1.", leftAt=at(-6))
    done = {"phase": "RolledBack", "step": 0, "verdict": "fail", "reason": "v2 fails more often.", "waitingFor": ""}
    share = {"configured": "0", "acknowledged": "0", "observedRatio": 0.0}
    times = {"finishedAt": at(-5), "waitingUntil": None, "firstBadAt": at(-8)}
    return document(status(**done, **times, share=share, steps=[step(1, "1/100"), bad]))


def by_evidence(**changes: Any) -> dict[str, Any]:
    """A shift that evidence leads, at 5 %, its third step: five metrics, a budget; `changes` are of its status."""
    rungs = [f"{each}%" for each in ("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "35", "50")]
    strategy = {"kind": "evidence", "rungs": rungs, "bake": {"for": "10m", "at": "20%"}, "first": "auto"}
    slow = {"stable": {"requests": 2400, "bad": 9}, "canary": {"requests": 120, "bad": 0}, "difference": None}
    gauge = {"metric": "pool", "test": "pool", "verdict": "pass", "low": None, "high": 20.0, "sentence": ""}
    rows = [
        evidence("outcomes", "insufficient"),
        evidence("attempts"),
        evidence("latency>100ms", **slow),
        evidence("latency>250ms", harm=212.0, proof=0.01),
        evidence("cache-misses", "unavailable"),
        {**gauge, "canary": {"value": 12.5}, "stable": {"value": None}},
    ]
    steps = [step(1, "1/100"), step(2, "1/50"), step(3, "1/20", leftAt=None, decision="hold", sentence="")]
    known = {
        "step": 3,
        "totalSteps": 8,
        "mode": "control",
        "evidence": rows,
        "steps": steps,
        "harm": 1.5,
        "upperBound": 0.012,
        "budget": {"limit": 50.0, "spent": 12.34, "left": 37.66},
        "bake": {"for": "10m", "at": "1/5", "since": None, "until": None, "lastedSeconds": 0.0},
        "unwatched": {"abandoned": "no caller ever left"},
    }
    return document(status(**{**known, **changes}), strategy=strategy)


def journal() -> list[dict[str, Any]]:
    entry = {"actor": "controller", "reason": "StepEntered"}
    return [
        {**entry, "at": at(-20), "sentence": "Step 1: 1%", "step": 1, "share": "1/100"},
        {**entry, "at": at(-10), "sentence": "Step 2: 50%", "step": 2, "share": "1/2"},
        {"at": at(-1), "reason": "Paused", "sentence": "lunch", "actor": "ann"},
    ]


LOAD = {
    "kind": "summary",
    "sent": 12000,
    "ok": 12000,
    "failed": 0,
    "p50Ms": 3.2,
    "p95Ms": 7.0,
    "p99Ms": 12.1,
    "versions": {
        "v2": {"n": 1000, "failed": 0, "attempts": {"1": 980, "2": 20}, "p50Ms": 3.0, "p95Ms": 7.0, "p99Ms": 1200.0},
        "v1": {"n": 11000, "failed": 0, "attempts": {"1": 11000}, "p50Ms": 3.0, "p95Ms": 7.0, "p99Ms": 12.0},
    },
}
