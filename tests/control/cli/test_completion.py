"""Do the scripts of `tidegate completion` complete in a real shell?"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli_control import Control, tidegate
from tests.support.cli_documents import document

BIN = Path(sys.executable).parent


def completed(line: str, state_dir: Path) -> list[str]:
    """What bash offers for the last word of the line, by the script as it is."""
    script = (
        'eval "$(tidegate completion bash)"\n'
        f"COMP_LINE={line!r}; read -ra COMP_WORDS <<< \"$COMP_LINE\"; [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')\n"
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tidegate_completion tidegate\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "TIDEGATE_STATE_DIR": str(state_dir)}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("tidegate sta", ["status"]),
        ("tidegate re", ["report", "resume", "retry"]),
        ("tidegate promote --expect", ["--expect-step"]),
        ("tidegate completion ", ["bash", "zsh", "fish"]),
        ("tidegate status tr", ["translator"]),
    ],
)
def test_bash_completes_verbs_options_values_and_names(control: Control, line: str, offers: list[str]) -> None:
    control.put(document())
    assert completed(line, control.state_dir) == offers


def test_names_are_not_offered_when_nothing_runs(tmp_path: Path) -> None:
    assert completed("tidegate status tr", tmp_path) == []


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "#compdef tidegate"), ("fish", "complete --no-files")])
def test_other_shells_get_their_script(shell: str, sign: str) -> None:
    ran = tidegate("completion", shell)
    assert ran.code == 0
    assert sign in ran.out
    assert "_TIDEGATE_COMPLETE" in ran.out
    if found := shutil.which(shell):
        subprocess.run([found, "-n"], input=ran.out, text=True, check=True, timeout=30)


def test_an_unknown_shell() -> None:
    assert tidegate("completion", "tcsh").code == 2
