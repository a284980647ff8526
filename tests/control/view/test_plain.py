import json
import math
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from control.view.model import Tone, Waiting
from control.view.plain import camel, plain
from control.view.shift import shift_view
from control.view.texts import json_line, json_text, yaml_text
from tests.support.cli_documents import NOW, document, journal


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (Tone.GOOD, "good"),
        (NOW, "2026-11-30T12:01:00Z"),
        (timedelta(seconds=1.5), 1.5),
        (Fraction(1, 20), "1/20"),
        ({1: (Tone.BAD,)}, {"1": ["bad"]}),
        (Waiting("x", NOW, "7 s"), {"sentence": "x", "until": "2026-11-30T12:01:00Z", "left": "7 s"}),
        (None, None),
    ],
)
def test_plain(value: Any, result: Any) -> None:
    assert plain(value) == result


@pytest.mark.parametrize(
    ("name", "key"), [("total_steps", "totalSteps"), ("name", "name"), ("since_first_bad", "sinceFirstBad")]
)
def test_camel(name: str, key: str) -> None:
    assert camel(name) == key


def test_a_view_is_json_and_yaml_of_the_same_values() -> None:
    value = plain(shift_view(document(), journal(), NOW))
    assert json.loads(json_text(value)) == json.loads(json_line(value)) == value
    assert "\n" not in json_line(value)
    assert yaml.safe_load(yaml_text(value)) == value


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


@given(VALUE)
@example("no")
@example("1e3")
@example("0x1F")
@example("12:30:45")
@example("2026-01-01")
@example("a: b")
@example("- a")
@example("~")
@example("\x85\u2028\ufeff")
@example("end ")
@example(1e22)
@example({"": [[], {}, [[1]], {"a": [{"b": None}]}]})
def test_yaml_reads_back_as_it_was(value: Any) -> None:
    assert yaml.safe_load(yaml_text(value)) == value


def test_yaml_is_made_to_be_read() -> None:
    value = {"name": "translator", "steps": [{"share": "5%", "notes": []}, {"share": "on"}]}
    assert yaml_text(value) == ('name: translator\nsteps:\n  - share: "5%"\n    notes: []\n  - share: "on"\n')
    assert not math.isnan(yaml.safe_load(yaml_text(1e-7)))
