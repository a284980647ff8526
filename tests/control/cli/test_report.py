"""`tidegate report` against a real controller, and the page that it writes."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.cli.report import html
from control.view.report import Baseline, report_view
from tests.support.cli_control import Control, Ran, tidegate
from tests.support.cli_documents import NOW, at, by_evidence, document, journal, promoted, rolled_back

EARLIER = {"from": "2026-11-23T08:00:00Z", "to": "2026-11-23T10:00:00Z", "version": "v1", "troubles": {}}
ROWS = [{"test": "outcomes", "requests": 30000, "bad": 90, "difference": {"estimate": 0.02, "low": 0.0, "high": 0.07}}]


def with_baseline() -> dict[str, Any]:
    whole = by_evidence(startedAt=at(-20))
    whole["spec"]["baseline"] = {"from": EARLIER["from"], "to": EARLIER["to"]}
    return whole


@pytest.fixture
def ask(control: Control) -> Any:
    control.put(with_baseline(), journal())

    def run(*words: str) -> Ran:
        return tidegate("report", *words, "--state-dir", str(control.state_dir))

    return run


def test_a_table_for_people(ask: Any, control: Control) -> None:
    control.shifts.baselines["default", "translator"] = {**EARLIER, "rows": ROWS}
    ran = ask()
    assert (ran.code, ran.err) == (0, "")
    for text in ("3 of 120 (2.5 %)", "+2.46 % (-0.42 % to +9.1 %)", "the weaker proof", "90 of 30,000 (0.3 %)", "P99"):
        assert text in ran.out


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_the_same_values_for_machines(ask: Any, output: str, read: Any) -> None:
    found = read(ask("translator", "-o", output).out)
    row = found["rows"][0]
    assert (row["test"], row["verdict"], row["canary"]["requests"]) == ("outcomes", "insufficient", 120)
    assert row["difference"]["low"] == -0.0042
    assert found["shareOverTime"][0] == {"atS": 0.0, "value": 0.01}


def test_without_prometheus_it_says_that_there_is_no_earlier_window(ask: Any) -> None:
    ran = ask()
    assert ran.code == 0
    assert "the baseline is not available: no Prometheus is configured (configure one)" in ran.out


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("-o", "markdown"), "# translator: v1 to v2"),
        (("-o", "html"), "<!doctype html>"),
        (("-o", "HTML"), "<!doctype html>"),
    ],
    ids=" ".join,
)
def test_pages_go_to_standard_output(ask: Any, words: tuple[str, ...], begins: str) -> None:
    assert ask(*words).out.startswith(begins)


@pytest.mark.parametrize(
    ("name", "words", "begins"),
    [
        ("report.html", (), "<!doctype html>"),
        ("report.md", (), "# translator"),
        ("report.json", (), "{"),
        ("report.yml", (), "namespace: default"),
        ("report", (), "translator  v1"),
        ("report.xyz", (), "translator  v1"),
        ("report.html", ("-o", "markdown"), "# translator"),
        ("report.txt", ("-o", "table"), "translator  v1"),
    ],
)
def test_a_file_is_written_as_its_name_says(
    ask: Any, tmp_path: Path, name: str, words: tuple[str, ...], begins: str
) -> None:
    ran = ask("--file", str(tmp_path / name), *words)
    assert (ran.code, ran.out, ran.err) == (0, "", f"{tmp_path / name} is written\n")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_a_file_that_can_not_be_written(ask: Any, tmp_path: Path) -> None:
    ran = ask("--file", str(tmp_path / "absent" / "report.html"))
    assert (ran.code, ran.out) == (2, "")
    assert "can't be written: No such file or directory" in ran.err


@pytest.mark.parametrize("whole", [promoted(), rolled_back(), document({})], ids=["promoted", "rolled back", "fresh"])
def test_running_and_finished_shifts_have_one(control: Control, whole: dict[str, Any]) -> None:
    control.put(whole)
    for output in ("table", "json", "yaml", "markdown", "html"):
        ran = tidegate("report", "-o", output, "--state-dir", str(control.state_dir))
        assert ran.code == 0, ran.err


class Page(HTMLParser):
    """What a page loads, and whether its elements are closed in order."""

    VOID = frozenset({"meta", "br", "rect", "path", "circle"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href", "xlink:href", "srcset", "onload")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page() -> str:
    found = Baseline({**EARLIER, "rows": ROWS})
    entries = [{**entry, "sentence": "<img src=x onerror=alert(1)>"} for entry in journal()]
    whole = by_evidence(startedAt=at(-20), reason="<script>alert(1)</script>")
    return html(report_view(whole, entries, NOW, found))


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    found = Page(page())
    assert (found.open, found.loads) == ([], [])
    assert not {"script", "link", "img", "iframe", "object"} & set(found.seen)
    assert "url(" not in page()
    assert "@import" not in page()
    assert "http" not in page()


def test_what_others_wrote_is_text() -> None:
    text = page()
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;img src=x" in text


def test_the_page_has_its_plots_for_light_dark_and_paper() -> None:
    text = page()
    assert Page(text).seen.count("svg") == 7, "five metrics, the share and the evidence"
    for rule in ("prefers-color-scheme: dark", "@media print", "color-scheme: light dark"):
        assert rule in text
    assert text.count('role="img" aria-label="') == 7
