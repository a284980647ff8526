"""The window that a shift names as its baseline, over the real API; what was counted then is the test's to say."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from control.engine.readings import Counts, Reading, SeriesKey
from control.engine.state import ShiftState
from control.errors import NotFound, Refused, Unavailable
from control.ports import MetricsQuery
from tests.support.control_api import SHIFT, Api, client, serving_api
from tests.support.situations import WATCHED, tide

WINDOW = b"  source: prometheus\n  baseline: {from: 2026-11-23T08:00:00Z, to: 2026-11-23T10:00:00Z}\n"


@dataclass
class Told:
    """A History that knows one window, and what it was asked."""

    asked: list[tuple[MetricsQuery, datetime, datetime]]

    async def window(self, query: MetricsQuery, begin: datetime, end: datetime) -> Reading:
        self.asked.append((query, begin, end))
        return Reading(end, {SeriesKey("v1", "a", "edge"): Counts(ended={0: 990, 13: 10})})


async def applied(api: Api, text: bytes, **changes: object) -> None:
    async with client(api) as shifts:
        await shifts.apply(text, "shift.yaml")
    stored = await api.store.load("default", "translator")
    assert stored is not None
    state = replace(ShiftState.from_json(stored.state), **changes)  # type: ignore[arg-type]
    await api.store.save("default", "translator", spec=stored.spec, state=state.to_json(), expect=stored.version)


async def test_the_window_is_asked_for_and_compared(tmp_path: Path) -> None:
    told = Told([])
    async with serving_api(tmp_path, told) as api, client(api) as shifts:
        await applied(api, SHIFT + WINDOW, watched=WATCHED, tide=tide())
        found = await shifts.baseline("default", "translator")
    assert (found["from"], found["to"]) == ("2026-11-23T08:00:00Z", "2026-11-23T10:00:00Z")
    assert (found["version"], found["troubles"]) == ("v1", {})
    (row,) = found["rows"]
    assert (row["test"], row["requests"], row["bad"]) == ("outcomes", 1000, 10)
    assert row["difference"]["low"] < row["difference"]["estimate"] < row["difference"]["high"]
    query, begin, end = told.asked[0]
    assert (query.versions, (end - begin).total_seconds()) == (("v1",), 7200)


async def test_without_prometheus_it_says_so(tmp_path: Path) -> None:
    async with serving_api(tmp_path) as api, client(api) as shifts:
        await applied(api, SHIFT + WINDOW, watched=WATCHED)
        with pytest.raises(Unavailable, match="no Prometheus is configured") as found:
            await shifts.baseline("default", "translator")
    assert "TIDEGATE_PROMETHEUS_URL" in found.value.hint


async def test_what_has_no_answer(tmp_path: Path) -> None:
    async with serving_api(tmp_path, Told([])) as api, client(api) as shifts:
        with pytest.raises(NotFound):
            await shifts.baseline("default", "translator")
        await applied(api, SHIFT)
        with pytest.raises(Refused, match="names no baseline"):
            await shifts.baseline("default", "translator")
        await applied(api, SHIFT + WINDOW, watched=None)
        with pytest.raises(Unavailable, match="nothing has been compared yet"):
            await shifts.baseline("default", "translator")
