"""What do the reads print, for people and for machines?"""

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from control.local.runfile import read_run_file, write_run_file
from tests.support.cli_control import Control, Ran, tidegate
from tests.support.cli_documents import document, journal, promoted, rolled_back, status


@pytest.fixture
def ask(control: Control) -> Any:
    """Runs a command line against a controller that has one shift under way."""
    control.put(document(), journal())

    def run(*words: str) -> Ran:
        return tidegate(*words, "--state-dir", str(control.state_dir))

    return run


def test_list_shows_a_line_a_shift(ask: Any) -> None:
    ran = ask("list")
    assert ran.code == 0, ran.err
    head, line = ran.out.splitlines()
    assert head.split()[:4] == ["NAMESPACE", "NAME", "PHASE", "STEP"]
    assert line.split()[:4] == ["default", "translator", "Progressing", "2/5"]
    assert "5 % / 5 % / 4.97 %" in line


def test_nothing_to_list_is_said_on_standard_error(control: Control) -> None:
    ran = tidegate("list", "--state-dir", str(control.state_dir))
    assert (ran.code, ran.out) == (0, "")
    assert "tidegate apply" in ran.err
    assert json.loads(tidegate("list", "--state-dir", str(control.state_dir), "-o", "json").out) == []


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_get_prints_the_documents_as_they_are(ask: Any, output: str, read: Any) -> None:
    assert read(ask("get", "translator", "-o", output).out) == document()
    assert read(ask("get", "-o", output).out) == [document()]
    assert read(ask("list", "-n", "elsewhere", "-o", output).out) == []


@pytest.mark.parametrize(
    "words",
    [("status",), ("explain",), ("history",), ("history", "--limit", "2")],
    ids=" ".join,
)
@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_reads_have_the_same_values_for_machines(ask: Any, words: tuple[str, ...], output: str, read: Any) -> None:
    ran = ask(*words, "-o", output)
    assert ran.code == 0, ran.err
    assert read(ran.out)
    assert ran.err == ""


def test_status_is_the_view_in_json(ask: Any) -> None:
    view = json.loads(ask("status", "translator", "-o", "json").out)
    assert (view["phase"], view["step"], view["totalSteps"]) == ("Progressing", 2, 5)
    assert [share["name"] for share in view["shares"]] == ["configured", "acknowledged", "observed"]
    assert view["history"][-1]["actor"] == "ann"


def test_status_for_people(ask: Any) -> None:
    out = ask("status").out
    assert out.splitlines()[0].startswith("translator  v1 → v2  Progressing  v2 takes 5 %, step 2 of 5")
    for text in (
        "configured",
        "4.97 %",
        "of requests",
        "2.5 % of 120",
        "waits for",
        "8 more requests of v2",
        "tidegate promote",
    ):
        assert text in out


def test_ascii_has_no_other_signs(ask: Any, control: Control) -> None:
    for verb in ("status", "explain", "history", "list"):
        ran = tidegate("--ascii", verb, "--state-dir", str(control.state_dir))
        assert ran.out
        assert ran.out.isascii()


def test_explain_answers_in_order(ask: Any) -> None:
    out = ask("explain").out
    questions = ["Where is it?", "Why?", "What do the numbers say?", "What happens next?", "What can I do?"]
    places = [out.index(question) for question in questions]
    assert places == sorted(places)


def test_history_is_oldest_first_and_limited(ask: Any) -> None:
    lines = ask("history").out.splitlines()
    assert [line.split()[1] for line in lines[1:]] == ["StepEntered", "StepEntered", "Paused"]
    assert len(ask("history", "--limit", "1").out.splitlines()) == 2


@pytest.mark.parametrize("whole", [promoted(), rolled_back(), document({}), document(status(phase="Conflict"))])
def test_every_phase_can_be_looked_at(control: Control, whole: dict[str, Any]) -> None:
    control.put(whole)
    for verb in ("list", "status", "explain", "get"):
        ran = tidegate(verb, "--state-dir", str(control.state_dir))
        assert ran.code == 0, ran.err


def test_one_of_several_must_be_named(ask: Any, control: Control) -> None:
    other = document()
    other["metadata"] = {"name": "detector", "namespace": "default"}
    control.put(other)
    ran = ask("status")
    assert ran.code == 2
    assert ran.err == "error[not-found]: there are several shifts: say which\n  hint: one of: detector, translator\n"
    assert ask("status", "detector").code == 0


def test_a_name_that_does_not_exist_lists_those_that_do(ask: Any) -> None:
    ran = ask("status", "translater")
    assert (ran.code, ran.out) == (2, "")
    assert "hint: there are: translator" in ran.err


def test_version_with_and_without_a_controller(control: Control, tmp_path: Any) -> None:
    found = json.loads(tidegate("version", "-o", "json", "--state-dir", str(control.state_dir)).out)
    assert found["controller"] == "1.2.3"
    alone = tidegate("version", "--state-dir", str(tmp_path / "nothing"))
    assert alone.code == 0
    assert "controller not running" in alone.out


def test_nothing_runs(tmp_path: Any) -> None:
    ran = tidegate("status", "--state-dir", str(tmp_path / "nothing"))
    assert (ran.code, ran.out) == (5, "")
    assert "tidegate up" in ran.err


def test_a_token_that_was_changed_is_refused(ask: Any, control: Control) -> None:
    (control.state_dir / "token").write_text("another")
    ran = ask("status")
    assert ran.code not in (0, 70)
    assert "error[" in ran.err


def test_a_token_that_others_can_read_is_refused_as_the_controller_does(ask: Any, control: Control) -> None:
    token = control.state_dir / "token"
    token.chmod(0o644)
    ran = ask("status")
    said = f"error[refused]: the token file {token} can be read by others\n  hint: chmod 600 {token}\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_a_controller_that_is_away_while_its_supervisor_lives(ask: Any, control: Control) -> None:
    write_run_file(control.state_dir, replace(read_run_file(control.state_dir), control="127.0.0.1:1"))
    ran = ask("status")
    log = control.state_dir / "logs" / "controller.err.log"
    said = f"error[unavailable]: the controller does not answer\n  hint: it is restarted by itself; its log is {log}\n"
    assert (ran.code, ran.out, ran.err) == (5, "", said)


def test_a_token_that_is_gone(ask: Any, control: Control) -> None:
    (control.state_dir / "token").unlink()
    ran = ask("status")
    assert ran.code == 5
    assert "token" in ran.err
