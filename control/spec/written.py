"""How do the parts of a shift look in the form that people write? Every one reads back to an equal value."""

from datetime import UTC, datetime
from typing import Any, assert_never

from control.spec.metric import BuiltIn, BuiltInName, GaugeQuery, HistogramQuery, Margin, Metric, RatioQuery, Unit
from control.spec.quantity import duration_text, edge_text, number, rate_text, share_text
from control.spec.strategy import EvidenceStrategy, StepStrategy, Strategy


def strategy_document(strategy: Strategy) -> dict[str, Any]:
    match strategy:
        case StepStrategy():
            return {
                "kind": "steps",
                "steps": [share_text(share) for share in strategy.steps],
                "hold": duration_text(strategy.hold),
                "minRequests": strategy.min_requests,
            }
        case EvidenceStrategy():
            return {
                "kind": "evidence",
                "rungs": [share_text(share) for share in strategy.rungs],
                "bake": {"for": duration_text(strategy.bake_for), "at": share_text(strategy.bake_at)},
                "first": "auto" if strategy.first is None else share_text(strategy.first),
                "capacity": "endpoints" if strategy.capped else "none",
            }
        case _:
            assert_never(strategy)


def metric_document(metric: Metric) -> dict[str, Any]:
    judged = {
        "tolerance": _margin(metric.tolerance),
        "proof": _margin(metric.proof),
        "weight": number(metric.weight),
    }
    if isinstance(metric, BuiltIn):
        edges = {"edges": edges_document(metric.edges_ms)} if metric.name is BuiltInName.LATENCY else {}
        return {"name": metric.name.value, **edges, **judged}
    asked = {"name": metric.name, "prometheus": _query(metric.query)}
    if isinstance(metric.query, GaugeQuery):
        return asked
    return {**asked, "direction": metric.direction.value, **judged}


def _query(query: RatioQuery | HistogramQuery | GaugeQuery) -> dict[str, Any]:
    match query:
        case RatioQuery():
            return {"kind": "ratio", "bad": query.bad, "total": query.total, "by": list(query.by)}
        case HistogramQuery():
            edges = edges_document(query.edges_ms, query.unit)
            return {
                "kind": "histogram",
                "buckets": query.buckets,
                "unit": query.unit.value,
                "edges": edges,
                "by": list(query.by),
            }
        case GaugeQuery():
            limits = {"min": query.low, "max": query.high}
            return {
                "kind": "gauge",
                "value": query.value,
                **{name: number(limit) for name, limit in limits.items() if limit is not None},
                "for": duration_text(query.lasting),
                "onBreach": query.on_breach.value,
            }
        case _:
            assert_never(query)


def edges_document(edges: tuple[float, ...] | None, unit: Unit = Unit.MS) -> str | list[str] | list[float]:
    if edges is None:
        return "auto"
    return [number(each) for each in edges] if unit is Unit.NONE else [edge_text(each) for each in edges]


def _margin(margin: Margin) -> dict[str, Any]:
    return {"ratio": number(margin.ratio), "extra": rate_text(margin.extra)}


def moment_text(moment: datetime) -> str:
    """Example: 2026-05-01T10:00:00Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
