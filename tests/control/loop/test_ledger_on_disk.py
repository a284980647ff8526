"""A run leaves its entry in a real file, and the next one takes its priors from there."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from control.adapters.ledger.files import LedgerFiles
from control.engine.ledger import LedgerEntry
from control.engine.phase import FINISHED, Phase, Verb
from control.loop.reconcile import reconcile
from tests.support.fake_ports import World
from tests.support.shifts import KEY, LOOP, apply, by_evidence, command, phase_of, state_of, status_of

FILE = "default.translator.yaml"


def run(world: World, folder: Path, *phases: Phase) -> None:
    """Ticks on a real ledger until one of the phases is reached."""
    ports = replace(world.ports(), ledger=LedgerFiles(folder))
    end = world.now + timedelta(hours=2)
    while phase_of(world) not in phases:
        assert world.now < end, status_of(world)["reason"]
        outcome = LOOP.run_until_complete(reconcile(ports, KEY, world.now))
        world.pass_time(max(outcome.next_tick, timedelta(milliseconds=1)))


def entries(folder: Path) -> tuple[LedgerEntry, ...]:
    return LOOP.run_until_complete(LedgerFiles(folder).read("default", "translator"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world whose shift was promoted once."""
    world = World()
    apply(world, by_evidence())
    run(world, tmp_path / "ledger", *FINISHED)
    return world


def test_the_next_run_knows_what_this_one_found(world: World, tmp_path: Path) -> None:
    (entry,) = entries(tmp_path / "ledger")
    assert (entry.outcome, entry.run, entry.canary) == ("promoted", 1, "v2")
    assert {each.verdict for each in entry.tests} == {"pass"}
    assert entry.rule.startswith("v2 may replace v1: at most ")
    command(world, Verb.ROLLBACK)
    run(world, tmp_path / "ledger", Phase.ROLLED_BACK)
    assert [each.outcome for each in entries(tmp_path / "ledger")] == ["promoted", "rolled back"]
    command(world, Verb.RETRY)
    run(world, tmp_path / "ledger", *FINISHED)
    assert [each.run for each in entries(tmp_path / "ledger")] == [1, 1, 2]
    command(world, Verb.ROLLBACK)
    run(world, tmp_path / "ledger", Phase.ROLLED_BACK)
    command(world, Verb.RETRY)
    run(world, tmp_path / "ledger", Phase.PROGRESSING)
    watched = state_of(world).watched
    assert watched is not None
    assert watched.tests[0].prior.known == 0, "what was taken back by hand after all is no good release"


def test_a_file_that_somebody_broke_keeps_nobody_waiting_and_gets_its_entry_once_it_is_mended(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir(mode=0o700)
    (folder / FILE).write_text("entries: [\n")
    world = World()
    apply(world, by_evidence())
    run(world, folder, Phase.PROGRESSING)
    assert f"{folder / FILE}:2:1" in status_of(world)["unwatched"]["ledger"]
    run(world, folder, *FINISHED)
    assert (folder / FILE).read_text() == "entries: [\n"
    (folder / FILE).write_text("# mended\nentries:\n")
    ports = replace(world.ports(), ledger=LedgerFiles(folder))
    for _ in range(3):
        LOOP.run_until_complete(reconcile(ports, KEY, world.now))
        world.pass_time(timedelta(seconds=15))
    assert len(entries(folder)) == 1
    assert (folder / FILE).read_text().startswith("# mended\n")
