"""What did the window say that a shift names as its baseline? Asked of the source that keeps the past."""

from typing import Any

from control.engine.baseline import baseline_rows
from control.engine.judge import weighed
from control.engine.state import ShiftState
from control.engine.status_evidence import UNASKED
from control.errors import Refused, Unavailable
from control.ports import History, MetricsQuery
from control.spec import TrafficShift, UserMetric
from control.spec.written import moment_text


async def baseline(history: History | None, shift: TrafficShift, state: ShiftState) -> dict[str, Any]:
    """The window, stable's counts in it and how far the canary is from them, as JSON values.

    Raises: Refused for a shift that names no window, Unavailable where nothing is kept of that time.
    """
    window, stable = shift.baseline, state.subject.stable
    if window is None:
        raise Refused("the shift names no baseline", hint="baseline: {from: ..., to: ...} in its spec")
    if history is None:
        hint = "only Prometheus keeps the past: set TIDEGATE_PROMETHEUS_URL for the controller"
        raise Unavailable("the baseline is not available: no Prometheus is configured", hint=hint)
    if state.watched is None:
        raise Unavailable("the baseline is not available: nothing has been compared yet", hint="ask when it has begun")
    query = MetricsQuery(
        namespace=shift.namespace,
        host=state.subject.host,
        versions=(stable,),
        source=shift.source,
        metrics=tuple(each for each in shift.metrics if isinstance(each, UserMetric)),
    )
    reading = await history.window(query, window.start, window.end)
    judged = weighed(shift, state, UNASKED, window.end)
    return {
        "from": moment_text(window.start),
        "to": moment_text(window.end),
        "version": stable,
        "rows": baseline_rows(reading, stable, state.watched, judged.rows),
        "troubles": dict(reading.troubles),
    }
