"""Settings come from documented variables, and from nowhere else."""

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner

from control.errors import SpecError
from control.settings import Settings, main, read_settings, reference, variable

ROOT = Path(__file__).parents[2]


def test_the_reference_is_fresh() -> None:
    assert (ROOT / "docs/settings.md").read_text() == reference(), "run: python -m control.settings > docs/settings.md"


def test_the_reference_names_every_setting_with_its_default() -> None:
    text = reference()
    for each in dataclasses.fields(Settings):
        assert f"## {variable(each.name)}" in text
        assert all(each.metadata[part] in text for part in ("unit", "meaning", "consequence"))


def test_the_module_prints_the_reference() -> None:
    assert CliRunner().invoke(main).output == reference()


@pytest.mark.parametrize(
    ("environment", "given", "field", "value"),
    [
        pytest.param({}, {}, "workers", 4, id="a default"),
        pytest.param({"TIDEGATE_WORKERS": "7"}, {}, "workers", 7, id="a variable"),
        pytest.param({"TIDEGATE_WORKERS": "7"}, {"workers": 2}, "workers", 2, id="an option wins"),
        pytest.param({"TIDEGATE_WORKERS": "7"}, {"workers": None}, "workers", 7, id="an option that is not given"),
        pytest.param({"TIDEGATE_DRAIN_S": "0.5"}, {}, "drain_s", 0.5, id="a number"),
        pytest.param({"TIDEGATE_STATE_DIR": "/x"}, {}, "token_path", Path("/x/token"), id="token in the state folder"),
        pytest.param({"TIDEGATE_TOKEN_FILE": "/t"}, {}, "token_path", Path("/t"), id="token elsewhere"),
        pytest.param({"TIDEGATE_STATE_DIR": "~/x"}, {}, "state_dir", Path.home() / "x", id="home is expanded"),
    ],
)
def test_where_a_value_comes_from(
    environment: dict[str, str], given: dict[str, object], field: str, value: object
) -> None:
    assert getattr(read_settings(environment, **given), field) == value


def test_all_mistakes_come_together() -> None:
    with pytest.raises(SpecError) as caught:
        read_settings({"TIDEGATE_WORKERS": "many", "TIDEGATE_DRAIN_S": "soon"})
    assert sorted(each.message for each in caught.value.problems) == [
        "TIDEGATE_DRAIN_S is 'soon', expected seconds",
        "TIDEGATE_WORKERS is 'many', expected shifts",
    ]
