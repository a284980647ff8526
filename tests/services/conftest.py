"""No test serves the call of another one: a test that begins a call in its own context would lend it its deadline."""

import pytest

from services.runtime import call


@pytest.fixture(autouse=True)
def no_call_is_being_served() -> None:
    call._current.set(None)
