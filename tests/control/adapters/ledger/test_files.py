"""The ledger's files: whole, kept as people left them, and never written to when they can't be read."""

import asyncio
import multiprocessing
import resource
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from control.adapters.ledger.files import LedgerFiles
from control.adapters.ledger.text import HEAD
from control.engine.ledger import LedgerEntry
from control.errors import Refused, SpecError, Unavailable
from tests.support.ledgers import entry, finding

T = TypeVar("T")
NAME = "default.translator.yaml"


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def append(folder: Path, *entries: LedgerEntry) -> str:
    """What the file says afterwards."""
    for each in entries:
        wait(LedgerFiles(folder).append("default", "translator", each))
    return (folder / NAME).read_text(encoding="utf-8")


def read(folder: Path) -> tuple[LedgerEntry, ...]:
    return wait(LedgerFiles(folder).read("default", "translator"))


def given(folder: Path, text: str) -> Path:
    folder.mkdir(mode=0o700)
    path = folder / NAME
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_is_there_at_first(folder: Path) -> None:
    assert read(folder) == ()
    assert wait(LedgerFiles(folder).services()) == ()
    assert not folder.exists()


def test_entries_come_back_in_order(folder: Path) -> None:
    entries = (
        entry(1),
        entry(2, tests=(finding(), finding("latency>250ms")), reason='a "quoted": # text\nof two lines'),
    )
    text = append(folder, *entries)
    assert read(folder) == entries
    assert text.startswith(HEAD)
    assert max(len(line) for line in text.splitlines() if "test:" not in line) <= 120
    assert [each["run"] for each in yaml.safe_load(text)["entries"]] == [1, 2]
    assert wait(LedgerFiles(folder).services()) == (("default", "translator"),)


def test_an_entry_is_written_once(folder: Path) -> None:
    once = append(folder, entry(1), entry(2))
    assert append(folder, entry(2), entry(1)) == once
    assert append(folder, entry(2, outcome="rolled back")) != once


@pytest.mark.parametrize("text", ["# ours\nentries:  # all\n", HEAD.rstrip(), "# begun by hand", " \n\n"])
def test_what_people_wrote_stays(folder: Path, text: str) -> None:
    given(folder, text)
    assert append(folder, entry(1)).startswith(text if text.strip() else HEAD)
    assert read(folder) == (entry(1),)


def test_hand_made_changes_stay(folder: Path) -> None:
    text = append(folder, entry(1), entry(2))
    changed = text.replace("    run: 1\n", "    run: 1  # the slow one\n").replace("phi: 1.4", "phi: 3")
    (folder / NAME).write_text(changed)
    assert append(folder, entry(3)).startswith(changed)
    assert [each.tests[0].phi for each in read(folder)] == [3.0, 3.0, 1.4]


def test_a_list_that_is_not_indented_goes_on_so(folder: Path) -> None:
    text = append(folder, entry(1))
    head, _, body = text.partition("entries:\n")
    flat = head + "entries:\n" + "".join(line[2:] + "\n" for line in body.splitlines())
    (folder / NAME).write_text(flat)
    assert append(folder, entry(2)).startswith(flat)
    assert len(read(folder)) == 2


BROKEN = {
    "not YAML": ("entries: [\n", 2, "not valid YAML"),
    "a key twice": ("entries: []\nentries: []\n", 2, "the key 'entries' appears twice"),
    "something else": ("- 1\n", 1, "expected the one key entries"),
    "another key": ("entry: []\n", 1, "expected the one key entries"),
    "no list": ("entries: many\n", 1, "entries: expected a list"),
    "no entry": ("entries:\n  - 3\n", 2, "entries.1: expected keys with values"),
    "two documents": ("entries: []\n---\nentries: []\n", 2, "a second document begins here"),
    "a wrong value": ("entries:\n  - shift: a\n    run: x\n", 3, "entries.1.run: expected a whole number"),
    "not UTF-8": ("entries:\n  - shift: \udcff\n", 2, "not UTF-8"),
}


@pytest.mark.parametrize(("text", "line", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_told_with_its_place_and_left_alone(folder: Path, text: str, line: int, said: str) -> None:
    path = given(folder, "")
    raw = text.encode("utf-8", "surrogateescape")
    path.write_bytes(raw)
    for work in (lambda: read(folder), lambda: append(folder, entry(1))):
        with pytest.raises(SpecError) as found:
            work()
        (problem,) = found.value.problems
        assert (problem.source, problem.line) == (str(path), line)
        assert problem.column >= 1
        assert problem.message.startswith(said)
    assert path.read_bytes() == raw
    assert sorted(each.name for each in folder.iterdir()) in ([NAME], [".lock", NAME])


@pytest.mark.parametrize("empty", [" []", " [ ]  # none", " null", " ~", "", "  # all gone"])
def test_a_list_that_was_emptied_by_hand_is_filled_again(folder: Path, empty: str) -> None:
    given(folder, f"# ours\nentries:{empty}\n# the end\n")
    text = append(folder, entry(1))
    assert text.startswith("# ours\nentries:")
    assert "# the end\n" in text
    assert "#" not in empty or empty[empty.index("#") :] in text
    assert read(folder) == (entry(1),)
    append(folder, entry(2))
    assert read(folder) == (entry(1), entry(2))


@pytest.mark.parametrize("text", ["{entries: []}\n", "entries: [{}]\n"])
def test_a_file_that_no_entry_fits_into_is_left_alone(folder: Path, text: str) -> None:
    path = given(folder, text)
    with pytest.raises(SpecError, match=r"no entry can be added here|is missing"):
        append(folder, entry(1))
    assert path.read_text() == text


@pytest.mark.parametrize(("namespace", "service"), [("", "a"), ("a", ""), ("..", "a"), ("a", "../b"), ("a/b", "c")])
def test_a_name_leads_out_of_no_folder(folder: Path, namespace: str, service: str) -> None:
    with pytest.raises(Refused, match="no name of a service"):
        wait(LedgerFiles(folder).read(namespace, service))


def test_a_folder_that_can_not_be_used(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file")
    with pytest.raises((Unavailable, Refused)):
        append(tmp_path / "ledger", entry(1))


def test_a_link_is_followed_and_the_mode_is_kept(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "team.yaml"
    kept.write_text(HEAD)
    kept.chmod(0o644)
    folder.mkdir(mode=0o700)
    (folder / NAME).symlink_to(kept)
    append(folder, entry(1))
    assert (folder / NAME).is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o644
    assert "shift: translator" in kept.read_text()


def _append_many(folder: Path, runs: range) -> None:
    for run in runs:
        wait(LedgerFiles(folder).append("default", "translator", entry(run)))


def test_two_writers_lose_nothing(folder: Path) -> None:
    writers = [
        multiprocessing.get_context("spawn").Process(target=_append_many, args=(folder, runs))
        for runs in (range(1, 11), range(11, 21))
    ]
    for each in writers:
        each.start()
    for each in writers:
        each.join(60)
    assert [each.exitcode for each in writers] == [0, 0]
    assert sorted(each.run for each in read(folder)) == list(range(1, 21))
    assert not list(folder.glob("*.new"))


def test_a_disk_that_is_full_leaves_the_old_text(folder: Path) -> None:
    before = append(folder, entry(1))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(Unavailable, match=r"the ledger .* can't be used: File too large"):
            append(folder, entry(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (folder / NAME).read_text() == before
    assert append(folder, entry(2)).startswith(before)
