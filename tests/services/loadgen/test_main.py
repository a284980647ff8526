"""The program: its output, its signals, its refusals."""

import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from services.loadgen.__main__ import main
from tests.support.work_process import module
from tests.support.work_translator import TranslatorDouble, serving_translator


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
async def test_a_signal_ends_it_with_its_summary(number: signal.Signals) -> None:
    double = TranslatorDouble(version="v2")
    async with (
        serving_translator(double) as address,
        module("services.loadgen", "--target", address, "--rate", "100", "--every", "100ms", "--seed", "7") as load,
    ):
        assert (await load.line())["kind"] == "tick"
        load.process.send_signal(number)
        *_, summary = await load.rest()
        assert await load.exit_code() == 0
    assert summary["kind"] == "summary"
    assert summary["sent"] == summary["ok"] == len(double.requests) > 0
    assert summary["versions"]["v2"]["attempts"] == {"1": summary["sent"]}
    assert (summary["plan"]["seed"], summary["plan"]["rate"]) == (7, 100.0)


async def test_a_duration_ends_it_and_the_reports_go_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "load.json"
    arguments = ("--rate", "100", "--duration", "500ms", "--json", str(file), "--progress", "--stream-share", "0.5")
    async with (
        serving_translator(TranslatorDouble()) as address,
        module("services.loadgen", "--target", address, *arguments) as load,
    ):
        assert await load.exit_code() == 0
        assert await load.rest() == []
        assert "total   50 sent   50 ok   0 failed" in await load.complaint()
    (summary,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert (summary["sent"], summary["ok"]) == (50, 50)
    assert summary["firstSegment"]["p50Ms"] > 0


async def test_the_load_ends_when_nobody_reads_its_reports_any_more() -> None:
    async with (
        serving_translator(TranslatorDouble()) as address,
        module("services.loadgen", "--target", address, "--rate", "50", "--every", "50ms") as load,
    ):
        await load.line()
        load.process._transport.get_pipe_transport(1).close()
        assert await load.exit_code() == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], "--target", id="no target"),
        pytest.param(["--target", "x:1", "--rate", "0"], "--rate", id="rate 0"),
        pytest.param(["--target", "x:1", "--duration", "soon"], "not a time above 0", id="no time"),
        pytest.param(
            ["--target", "x:1", "--pairs", "xx>es,en>es=0"], "weight of en>es", id="both mistakes of the pairs"
        ),
        pytest.param(["--target", "x:1", "--pairs", "xx>es,en>es=0"], "no sentences in 'xx'", id="an unknown language"),
        pytest.param(["--target", "x:1", "--json", "/nowhere/x"], "can't write /nowhere/x", id="no such folder"),
    ],
)
def test_bad_input_is_exit_code_2(arguments: list[str], says: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert says in result.output
