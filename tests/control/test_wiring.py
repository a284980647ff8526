"""What the settings make of a controller."""

from dataclasses import replace
from pathlib import Path

import pytest

from control.errors import SpecError
from control.settings import Settings
from control.wiring import SystemClock, controller, prometheus
from tests.support.control_time import NOON, StillClock


def test_without_an_address_there_is_no_prometheus() -> None:
    assert prometheus(Settings(), SystemClock()) is None


async def test_with_one_there_is_its_present_and_its_past() -> None:
    found = prometheus(Settings(prometheus_url="http://127.0.0.1:9090"), SystemClock())
    assert found is not None
    await found.metrics.close()


async def test_settings_that_do_not_fit_are_told_before_anything_is_opened(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state", prometheus_url="prometheus:9090", prometheus_scrape_s=0)
    with pytest.raises(SpecError) as caught:
        async with controller(settings, "token"):
            pass
    assert [each.message.split(",")[0] for each in caught.value.problems] == [
        "Prometheus: the address is 'prometheus:9090'",
        "Prometheus: the scrape interval is 0 s",
    ]
    assert not settings.state_dir.exists()


async def test_time_is_what_the_clock_says(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    settings = replace(Settings(), state_dir=tmp_path / "state")
    async with controller(settings, "token", StillClock()) as parts:
        assert parts.shifts.now() == NOON
