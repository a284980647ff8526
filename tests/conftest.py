"""How the suite runs: its order, and that no clock decides a test."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stories take longest: they begin first, so that no core waits for one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("story") is None)
