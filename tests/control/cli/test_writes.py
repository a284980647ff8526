"""What do the writes send, what do they print, and when do they send nothing?"""

import json
from pathlib import Path
from typing import Any

import pytest

from control.engine.command import Verb
from tests.support.cli_control import Control, Ran, tidegate
from tests.support.cli_documents import document

MANIFEST = Path(__file__).parents[3] / "mesh" / "manifests" / "translator-shift.yaml"


@pytest.fixture
def ask(control: Control) -> Any:
    control.put(document())

    def run(*words: str, stdin: str = "") -> Ran:
        return tidegate(*words, "--state-dir", str(control.state_dir), stdin=stdin)

    return run


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        (("promote",), Verb.PROMOTE),
        (("promote", "--full"), Verb.PROMOTE_FULL),
        (("rollback",), Verb.ROLLBACK),
        (("pause",), Verb.PAUSE),
        (("resume",), Verb.RESUME),
        (("suspend",), Verb.SUSPEND),
        (("retry",), Verb.RETRY),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_each_verb_sends_its_command(ask: Any, control: Control, words: tuple[str, ...], verb: Verb) -> None:
    ran = ask(*words, "translator", "--reason", "lunch", "--expect-step", "2")
    assert (ran.code, ran.out) == (0, f"{verb.value} is done\n"), ran.err
    (command,) = control.shifts.commands
    assert (command.verb, command.reason, command.expect_step) == (verb, "lunch", 2)
    assert command.actor
    assert command.id


@pytest.mark.parametrize("verb", ["promote", "rollback", "pause", "resume", "suspend", "retry"])
def test_a_dry_run_says_what_would_happen_and_sends_nothing(ask: Any, control: Control, verb: str) -> None:
    ran = ask(verb, "--dry-run")
    assert (ran.code, ran.out) == (0, f"{verb} is done\n"), ran.err
    assert control.shifts.commands == []


def test_a_command_for_machines(ask: Any) -> None:
    told = json.loads(ask("pause", "-o", "json").out)
    assert told["outcome"] == "pause is done"
    assert told["shift"]["metadata"]["name"] == "translator"


def test_a_stale_step_is_refused_with_what_to_do(ask: Any, control: Control) -> None:
    ran = ask("promote", "--expect-step", "1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error[refused]: it is at step 2, not 1\n  hint: look again: tidegate status\n"
    assert control.shifts.commands == []


def test_every_command_has_its_own_id(ask: Any, control: Control) -> None:
    ask("pause")
    ask("pause")
    assert len({command.id for command in control.shifts.commands}) == 2


def test_apply_creates(ask: Any, control: Control) -> None:
    ran = ask("apply", str(MANIFEST))
    assert (ran.code, ran.out) == (0, "trafficshift default/translator created\n"), ran.err
    assert ("default", "translator") in control.shifts.documents


def test_apply_of_standard_input_as_a_dry_run(ask: Any, control: Control) -> None:
    before = control.shifts.documents["default", "translator"].revision
    ran = ask("apply", "-", "--dry-run", stdin=MANIFEST.read_text())
    assert (ran.code, ran.out) == (0, "trafficshift default/translator would be created\n"), ran.err
    assert control.shifts.documents["default", "translator"].revision == before
    assert json.loads(ask("apply", "-", "-o", "json", stdin=MANIFEST.read_text()).out)[0]["kind"] == "TrafficShift"


def test_apply_shows_all_mistakes_with_their_lines(ask: Any, tmp_path: Path) -> None:
    text = MANIFEST.read_text().replace("host:", "hots:").replace("[1%,", "[101%,").replace("rollback", "shrug")
    bad = tmp_path / "bad.yaml"
    bad.write_text(text)
    ran = ask("apply", str(bad))
    assert (ran.code, ran.out) == (2, "")
    lines = text.splitlines()
    for word in ("hots", "101%", "shrug"):
        number = next(i for i, line in enumerate(lines, 1) if word in line)
        assert f"{bad}:{number}:" in ran.err
        assert f"{number:>5} | {lines[number - 1]}" in ran.err
    assert ran.err.splitlines()[-1].startswith("error[spec]: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b"#" * 10_000_000, " bytes", id="10 MB"),
        pytest.param(b"kind: \xff\n", "not UTF-8: byte 0xff", id="not UTF-8"),
        pytest.param(b"kind: TrafficShift\nkind: x\n", "twice", id="a key twice"),
        pytest.param(b"a: &a [x,x]\nb: [*a" + b",*a" * 9_999 + b"]", "more than 10", id="aliases gone wild"),
    ],
)
@pytest.mark.parametrize("words", [("apply",), ("plan",), ("diff", "--file")], ids=lambda words: words[0])
def test_a_hostile_file_is_bad_input(ask: Any, tmp_path: Path, words: tuple[str, ...], text: bytes, said: str) -> None:
    (tmp_path / "bad.yaml").write_bytes(text)
    ran = (tidegate if words == ("plan",) else ask)(*words, str(tmp_path / "bad.yaml"))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize(
    "words",
    [("promote", "transl\udcffator"), ("pause", "--reason", "\udcff"), ("list", "-n", "\udcff"), ("delete", "\udcff")],
    ids=lambda words: words[0],
)
def test_words_that_are_not_utf8_are_bad_input(ask: Any, words: tuple[str, ...]) -> None:
    ran = ask(*words)
    assert (ran.code, ran.out) == (2, "")
    assert "not UTF-8 at character" in ran.err


def test_a_file_that_is_not_there(ask: Any) -> None:
    ran = ask("apply", "no-such-file.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert "no-such-file.yaml" in ran.err


def test_delete_says_what_happens_to_the_traffic(ask: Any, control: Control) -> None:
    dry = ask("delete", "translator", "--dry-run")
    assert (dry.code, dry.out) == (0, "all traffic goes back to v1, then the shift is gone\n")
    assert control.shifts.documents
    assert ask("delete", "translator", "-o", "json").code == 0
    assert control.shifts.documents == {}
    assert ask("delete", "translator").code == 2
