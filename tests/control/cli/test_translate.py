"""What does `tidegate translate` print, where, and how does it end?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.local.runfile import RunFile, state_folder, write_run_file
from tests.support.cli_control import Ran, tidegate
from tests.support.cli_gateway import BAD, running_gateway


def run_file(gateway: str, state_dir: Path) -> RunFile:
    return RunFile(1, "127.0.0", gateway, "127.0.0.1:1", "127.0.0.1:1", str(state_dir / "token"), {})


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Any]:
    with running_gateway() as gateway, state_folder(tmp_path):
        write_run_file(tmp_path, run_file(gateway, tmp_path))

        def run(*words: str) -> Ran:
            return tidegate("translate", *words, "--state-dir", str(tmp_path))

        yield run


def test_text_on_standard_output_and_facts_on_standard_error(ask: Any) -> None:
    ran = ask("hello", "good night", "--to", "es")
    assert (ran.code, ran.out) == (0, "HELLO\nGOOD NIGHT\n"), ran.err
    assert ran.err.startswith("v2, try 2, cache: miss, detected: en, up to 25 % of the words unknown, ")
    assert ran.err.rstrip().endswith(" ms")


def test_a_stream_prints_segments(ask: Any) -> None:
    ran = ask("one. two", "--to", "es", "--stream")
    assert (ran.code, ran.out) == (0, "ONE\nTWO\n")
    assert ran.err.startswith("v2, try 2")


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_for_machines(ask: Any, output: str, read: Any) -> None:
    answer = read(ask("hello", "--to", "es", "-o", output).out)
    assert answer["pieces"][0]["text"] == "HELLO"
    assert (answer["version"], answer["attempts"]) == ("v2", 2)


@pytest.mark.parametrize("words", [(), ("--stream",)])
def test_a_text_that_could_not_be_translated(ask: Any, words: tuple[str, ...]) -> None:
    ran = ask(BAD, "--to", "es", *words)
    assert ran.code == 1
    assert "not translated: en to xx is not offered" in ran.err


def test_the_service_refuses(ask: Any) -> None:
    ran = ask("hello", "--to", "xx")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error[refused]: this can't be translated: xx is no language\n"


@pytest.mark.parametrize(
    "words",
    [("a\udcffb", "--to", "es"), ("a\udcffb", "--to", "es", "--stream"), ("a", "--to", "\udcff")],
    ids=["a text", "a text of a stream", "a language"],
)
def test_a_lone_surrogate_is_bad_input(ask: Any, words: tuple[str, ...]) -> None:
    ran = ask(*words)
    assert (ran.code, ran.out) == (2, "")
    assert "not UTF-8 at character" in ran.err


@pytest.mark.parametrize("words", [(), ("--stream",)])
def test_nobody_answers(tmp_path: Path, words: tuple[str, ...]) -> None:
    with state_folder(tmp_path):
        write_run_file(tmp_path, run_file("127.0.0.1:1", tmp_path))
        ran = tidegate("translate", "hello", "--to", "es", "--state-dir", str(tmp_path), *words)
    assert (ran.code, ran.out) == (5, "")
    assert "127.0.0.1:1 could not reach a translator" in ran.err


def test_no_language_is_asked_for(ask: Any) -> None:
    ran = ask("hello")
    assert ran.code == 2
    assert "--to" in ran.err
