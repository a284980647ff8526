"""How long is a duration?"""

from datetime import timedelta

import pytest

from mesh.istio.duration import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("1.5s", 1.5),
        (".5s", 0.5),
        ("100ms", 0.1),
        ("1h30m", 5400),
        ("1m1s1ms", 61.001),
        ("0s", 0),
        ("50us", 5e-5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "1", "s", "1 s", "1s ", "-1s", "1d", "one", "1s1"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)
