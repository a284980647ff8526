"""What works without anything running: plan, diff, lint, and the texts of every command."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import click
import pytest

from control.cli import docs
from control.cli.main import VERBS, cli
from control.local.layout import Layout
from control.local.manifests import SHIFT, write_documents
from tests.support.cli_control import Control, tidegate
from tests.support.cli_documents import document, rolled_back
from tests.support.spec_shifts import SHORT


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """The demo's own documents."""
    write_documents(Layout("127.64.9", tmp_path))
    return tmp_path / "documents"


def test_plan_of_a_bad_manifest(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("kind: TrafficShift\n")
    ran = tidegate("plan", bad)
    assert (ran.code, ran.out) == (2, "")
    assert f"{bad}:1:1: " in ran.err
    for rate in ("0", "-1", "nan", "inf", "-inf", "1e-300", "1e300", "many"):
        ran = tidegate("plan", SHIFT, "--rate", rate)
        assert (ran.code, ran.err.split(":")[0]) == (2, "error[usage]"), (rate, ran.err)
    for rate in ("0.001", "1e9"):
        assert tidegate("plan", SHIFT, "--rate", rate).code == 0


def test_diff_shows_only_weights(manifests: Path) -> None:
    ran = tidegate("diff", "--file", SHIFT, "--documents", manifests)
    assert ran.code == 0, ran.err
    changed = sorted(line[6:].replace(" ", "") for line in ran.out.splitlines() if line[6:7] in ("-", "+"))
    assert (
        changed
        == ["+weight:5", "+weight:5", "+weight:95", "+weight:95", "-weight:0", "-weight:0"] + ["-weight:100"] * 2
    )
    assert "from 0 % to 5 %: 2 documents would change" in ran.out


def test_diff_names_the_fields_above_the_lines(manifests: Path) -> None:
    words = ("diff", "--file", SHIFT, "--documents", manifests)
    lines = [line.strip() for line in tidegate(*words).out.splitlines()]
    path = "spec.http[primary].route[translator"
    (at,) = [number for number, line in enumerate(lines) if line.startswith("VirtualService default/translator")]
    assert lines[at + 1 : at + 3] == [f"{path} v1].weight: 100 -> 95", f"{path} v2].weight: 0 -> 5"]
    assert lines[at + 3].split()[0].isdigit()
    documents = json.loads(tidegate(*words, "-o", "json").out)["documents"]
    assert documents[0]["fields"][1] == {
        "path": f"{path} v2].weight",
        "before": 0,
        "after": 5,
        "sentence": f"{path} v2].weight: 0 -> 5",
    }


def test_diff_to_a_share_that_is_there_already(manifests: Path) -> None:
    view = json.loads(tidegate("diff", "--file", SHIFT, "--documents", manifests, "--to", "0%", "-o", "json").out)
    assert [(document["fields"], document["lines"]) for document in view["documents"]] == [([], []), ([], [])]


def test_diff_of_a_shift_under_way(manifests: Path, control: Control) -> None:
    control.put(document())
    ran = tidegate("diff", "--documents", manifests, "--state-dir", control.state_dir)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("translator  from 0 % to 20 %: 2 documents would change")


def test_diff_of_a_shift_that_was_rolled_back(manifests: Path, control: Control) -> None:
    control.put(rolled_back())
    ran = tidegate("diff", "--documents", manifests, "--state-dir", control.state_dir)
    assert (ran.code, ran.out) == (0, "translator  no next step; tidegate retry would begin at 1 %\n")


def test_diff_begins_where_the_file_says(manifests: Path, tmp_path: Path) -> None:
    file = tmp_path / "shift.yaml"
    file.write_text(SHORT.replace("shop", "default") + "  strategy: {first: 5%}\n", encoding="utf-8")
    assert "from 0 % to 5 %" in tidegate("diff", "--file", file, "--documents", manifests).out


def test_diff_of_documents_with_mistakes_shows_them(manifests: Path) -> None:
    (manifests / "a.yaml").write_text("kind: VirtualService\nkind: Gateway\n")
    ran = tidegate("diff", "--file", SHIFT, "--documents", manifests)
    assert (ran.code, ran.out) == (2, "")
    assert f"{manifests / 'a.yaml'}:" in ran.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("primary", "primry", "its routes: primary"),
        ("canary: v2", "canary: v3", "add to its route list"),
        ("virtualService: edge", "virtualService: egde", "there are: "),
    ],
    ids=["a route that is not there", "a destination that is missing", "a document that is not there"],
)
def test_what_does_not_fit_the_documents_is_told_by_diff_and_lint(
    manifests: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    shift = manifests / "shift.yaml"
    shift.write_text(SHIFT.read_text().replace(old, new))
    ran = tidegate("diff", "--file", shift, "--documents", manifests)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    ran = tidegate("lint", manifests)
    assert ran.code == 2
    assert said in ran.out


@pytest.mark.parametrize("share", ["150%", "-1%", "some"])
def test_diff_refuses_impossible_shares(share: str) -> None:
    assert tidegate("diff", "--file", SHIFT, "--to", share).code == 2


def test_diff_without_documents(tmp_path: Path) -> None:
    ran = tidegate("diff", "--file", SHIFT, "--state-dir", tmp_path / "none")
    assert ran.code == 2
    assert "--documents" in ran.err


def test_lint_has_nothing_to_say_about_the_demo(manifests: Path) -> None:
    (manifests / "shift.yaml").write_text(SHIFT.read_text())
    ran = tidegate("lint", manifests)
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert "1 shift: nothing to remark" in ran.err
    assert json.loads(tidegate("lint", manifests, "-o", "json").out) == []


def test_lint_finds_the_mistakes_of_all_files_at_once(manifests: Path) -> None:
    (manifests / "a.yaml").write_text("kind: VirtualService\nkind: Gateway\n")
    (manifests / "b.yaml").write_text("kind: TrafficShift\nspec: {steps: 3}\n")
    ran = tidegate("lint", manifests)
    assert ran.code == 2
    assert f"{manifests / 'a.yaml'}:" in ran.out
    assert f"{manifests / 'b.yaml'}:" in ran.out
    found = tidegate("lint", manifests, "-o", "json")
    assert found.code == 2
    assert {Path(each["problem"]["source"]).name for each in json.loads(found.out)} == {"a.yaml", "b.yaml"}


def test_a_warning_counts_only_when_it_is_wanted(manifests: Path) -> None:
    text = (manifests / "translator.yaml").read_text()
    (manifests / "translator.yaml").write_text(text.replace("subset: v2", "subset: v1"))
    ran = tidegate("lint", manifests)
    assert (ran.code, "TG003" in ran.out) == (0, True), ran.out
    assert "warning" in ran.err
    assert tidegate("lint", manifests, "--strict").code == 2


def test_lint_of_an_empty_folder(tmp_path: Path) -> None:
    assert tidegate("lint", tmp_path).code == 2


def test_the_page_of_all_commands_is_fresh() -> None:
    assert docs.PAGE.read_text(encoding="utf-8") == docs.page(), "run: python -m control.cli.docs"
    assert docs.main(["--check"]) == 0


@pytest.mark.parametrize("name", VERBS)
def test_every_command_teaches_by_examples(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    ran = tidegate(name, "--help")
    assert ran.code == 0
    words = ran.out.split()
    assert words[:2] == ["Usage:", "tidegate"]
    if VERBS[name].path.startswith("control.cli") and not isinstance(command, click.Group):
        assert f"tidegate {name}" in ran.out.partition("\n")[2]


def test_a_word_that_is_no_command() -> None:
    ran = tidegate("statsu")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error[usage]: there is no command 'statsu'. Did you mean status?")
    assert tidegate("qqqq").code == 2
    assert tidegate("status", "--no-such-option").code == 2


def test_the_list_of_commands_is_there_at_once() -> None:
    """Nothing heavy is imported for it. Time is the processor's, the best of three: machines are noisy."""
    script = (
        "import sys; from control.cli.main import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    times = []
    for _ in range(3):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
    heavy = {"grpc", "rich", "numpy", "pydantic", "yaml", "asyncio", "google.protobuf"}
    assert not heavy & set(done.stderr.split())
    assert "See a shift" in done.stdout
    assert min(times) < 0.3
