"""`tidegate doctor` where little or nothing answers: it says so in its lines, and ends with their code."""

import json
from pathlib import Path

import pytest

from tests.support.cli_control import tidegate


def test_a_laptop_on_which_nothing_runs_is_looked_at_all_the_same(tmp_path: Path) -> None:
    ran = tidegate("doctor", "-o", "json", "--state-dir", tmp_path / "state")
    assert ran.code == 1, ran.err
    found = json.loads(ran.out)
    assert {each["code"] for each in found} == {"LAPTOP", "SHIFTS"}
    (line,) = (each for each in found if each["code"] == "SHIFTS")
    assert (line["level"], line["seen"]) == ("fail", f"no mesh runs in {tmp_path / 'state'}")
    assert "tidegate up --detach" in line["advice"]


def test_an_api_server_that_does_not_answer_is_exit_code_5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kubeconfig"
    named = {"apiVersion": "v1", "kind": "Config", "current-context": "away"}
    contexts = [{"name": "away", "context": {"cluster": "away", "user": "away"}}]
    clusters = [{"name": "away", "cluster": {"server": "http://127.0.0.1:1"}}]
    users = [{"name": "away", "user": {"token": "secret"}}]
    file.write_text(json.dumps({**named, "contexts": contexts, "clusters": clusters, "users": users}))
    monkeypatch.setenv("TIDEGATE_KUBERNETES", str(file))
    ran = tidegate("doctor", "--state-dir", tmp_path / "state")
    assert (ran.code, ran.out) == (5, "")
    assert "does not answer" in ran.err
