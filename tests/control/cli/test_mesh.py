"""Does `tidegate mesh run` become the mesh runner, with all that was typed?"""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.cli_control import tidegate

TIDEGATE = str(Path(sys.executable).parent / "tidegate")


def test_options_go_on_to_the_runner(tmp_path: Path) -> None:
    words = [TIDEGATE, "mesh", "run", str(tmp_path), "--no-such-option"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "No such option" in done.stderr


def test_the_help_names_every_option_of_the_runner() -> None:
    words = [sys.executable, "-m", "mesh.run", "--help"]
    real = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
    told = tidegate("mesh", "run", "--help").out
    assert set(re.findall(r"--[a-z-]+", real)) == set(re.findall(r"--[a-z-]+", told))


def test_a_folder_that_is_not_there() -> None:
    ran = tidegate("mesh", "run", "/no/such/folder")
    assert ran.code == 2
    assert "/no/such/folder" in ran.err
