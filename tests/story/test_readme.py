"""The README's five minutes, typed as they stand there."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent

pytestmark = [pytest.mark.story, pytest.mark.envoy, pytest.mark.apertium, pytest.mark.redis]


def tour() -> list[str]:
    """The commands of the block behind the mark `<!-- tour -->`, without the activation of the environment."""
    block = re.search(r"<!-- tour -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert block
    return [line for line in block[1].splitlines() if line and not line.startswith(". ")]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    names = {"PATH": f"{BIN}:{os.environ['PATH']}", "TIDEGATE_STATE_DIR": str(tmp_path / "state"), "NO_COLOR": "1"}
    environment = {**os.environ, **names}
    yield environment
    subprocess.run(["tidegate", "down"], env=environment, cwd=ROOT, check=False, timeout=60, capture_output=True)


def test_every_command_of_the_tour_does_what_it_says(environment: dict[str, str], tmp_path: Path) -> None:
    outputs = {}
    for line in tour():
        done = subprocess.run(
            ["bash", "-c", line], env=environment, cwd=ROOT, timeout=150, capture_output=True, text=True, check=False
        )
        expected = 3 if "wait" in line and "rolled-back" not in line else 0
        assert done.returncode == expected, f"{line}\n{done.stdout}\n{done.stderr}"
        outputs[line.split()[1]] = done.stdout
    assert "biblioteca" in outputs["translate"]
    assert "just to see it" in outputs["history"]
    left = sorted(path.name for path in (tmp_path / "state").glob("*"))
    assert left in ([], ["ledger"]), "down leaves nothing behind but what shifts found"


def test_the_two_commands_are_those_of_the_makefile() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"^make ([a-z]+)", README, re.MULTILINE)
    assert named == ["demo", "test"]
    assert set(named) <= set(targets)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(((?!https?:)[^)#]+)\)", README))))
def test_every_page_that_the_readme_names_exists(link: str) -> None:
    assert (ROOT / link).exists()
