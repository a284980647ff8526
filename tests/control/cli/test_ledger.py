"""`tidegate ledger` on real files of a state folder; no controller runs."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.wiring import LEDGER, ledger
from tests.support.cli_control import Ran, tidegate
from tests.support.ledgers import entry, finding


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """Two services with runs."""
    files = ledger(tmp_path)
    tests = (finding(), finding("latency>250ms", verdict="insufficient"))
    for each in (entry(1), entry(2, tests=tests, outcome="rolled back", rule="watch attempts")):
        asyncio.run(files.append("default", "translator", each))
    asyncio.run(files.append("shop", "cart", entry(1, shift="cart")))
    return tmp_path


def ask(state_dir: Path, *words: str) -> Ran:
    return tidegate("ledger", *words, "--state-dir", str(state_dir))


def test_every_service_is_told(state_dir: Path, file_regression: Any) -> None:
    ran = ask(state_dir)
    assert (ran.code, ran.err) == (0, "")
    file_regression.check(ran.out, basename="ledger")


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_machines_get_the_entries(state_dir: Path, output: str, read: Any) -> None:
    (only,) = read(ask(state_dir, "translator", "-o", output).out)
    assert (only["namespace"], only["service"]) == ("default", "translator")
    assert [each["run"] for each in only["entries"]] == [1, 2]
    assert read(ask(state_dir, "-n", "shop", "-o", output).out)[0]["service"] == "cart"


def test_a_service_without_a_ledger(state_dir: Path) -> None:
    ran = ask(state_dir, "translater")
    said = "error[not-found]: there is no ledger of translater\n  hint: there are: default/translator, shop/cart\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_nothing_was_left_yet(tmp_path: Path) -> None:
    assert ask(tmp_path) == Ran(0, "", "No shift has left anything behind yet.\n")
    assert json.loads(ask(tmp_path, "-o", "json").out) == []


def test_a_broken_file_is_told_with_its_line(state_dir: Path) -> None:
    path = state_dir / LEDGER / "default.translator.yaml"
    path.write_text(path.read_text().replace("    run: 2", "    run: two"))
    ran = ask(state_dir, "translator")
    line = path.read_text().splitlines().index("    run: two") + 1
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"{path}:{line}:10: entries.2.run: expected a whole number\n")


def test_all_broken_files_are_told_and_the_others_shown(state_dir: Path) -> None:
    for name in ("default.a", "default.b"):
        (state_dir / LEDGER / f"{name}.yaml").write_text("entries: many\n")
    ran = ask(state_dir, "-o", "json")
    assert ran.code == 2
    assert [each["service"] for each in json.loads(ran.out)] == ["translator", "cart"]
    assert ran.err.count("entries: expected a list") == 2
