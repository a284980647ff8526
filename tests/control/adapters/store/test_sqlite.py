"""The Store port's promises, on a real SQLite file."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from control.adapters.store.schema import SCHEMA_VERSION
from control.adapters.store.sqlite import JOURNAL_KEPT, MAX_VALUE_BYTES, STATE_FILE, SqliteStore
from control.errors import Conflict, InvariantBroken, Refused, Unavailable
from tests.support.control_time import NOON

NS, NAME = "default", "translator"
SPEC = {"spec": {"stable": "v1", "note": "ümlaut 😀"}}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(tmp_path, NOON)
    yield opened
    await opened.close()


async def test_what_is_saved_is_loaded(store: SqliteStore) -> None:
    version = await store.save(NS, NAME, spec=SPEC, state={"step": 2}, expect=0)
    loaded = await store.load(NS, NAME)
    assert loaded is not None
    assert (loaded.spec, loaded.state, loaded.version) == (SPEC, {"step": 2}, version)


async def test_a_shift_that_does_not_exist_is_none(store: SqliteStore) -> None:
    assert await store.load(NS, NAME) is None


async def test_list_is_by_name_and_may_be_of_one_namespace(store: SqliteStore) -> None:
    for namespace, name in (("b", "two"), ("a", "two"), ("a", "one")):
        await store.save(namespace, name, spec={}, state={}, expect=0)
    assert [(each.namespace, each.name) for each in await store.list()] == [("a", "one"), ("a", "two"), ("b", "two")]
    assert [each.name for each in await store.list("b")] == ["two"]


@pytest.mark.parametrize(
    ("existing", "offset", "fits"),
    [
        pytest.param(False, 0, True, id="created when it does not exist"),
        pytest.param(False, 7, False, id="not created over an expected version"),
        pytest.param(True, 0, True, id="replaced at the version that was read"),
        pytest.param(True, -1, False, id="refused at an older version"),
        pytest.param(True, 1, False, id="refused at a version that does not exist yet"),
    ],
)
async def test_compare_and_swap(store: SqliteStore, existing: bool, offset: int, fits: bool) -> None:
    version = await store.save(NS, NAME, spec=SPEC, state={"n": 1}, expect=0) if existing else 0
    if fits:
        assert await store.save(NS, NAME, spec=SPEC, state={"n": 2}, expect=version + offset) > version
        return
    with pytest.raises(Conflict, match="not"):
        await store.save(NS, NAME, spec=SPEC, state={"n": 2}, expect=version + offset)
    loaded = await store.load(NS, NAME)
    assert (loaded.state if loaded else None) == ({"n": 1} if existing else None)


async def test_of_many_writers_at_one_version_exactly_one_wins(store: SqliteStore) -> None:
    version = await store.save(NS, NAME, spec={}, state={}, expect=0)
    writes = [store.save(NS, NAME, spec={}, state={"writer": n}, expect=version) for n in range(20)]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(isinstance(each, int) for each in results) == 1
    assert sum(isinstance(each, Conflict) for each in results) == 19


async def test_a_version_is_never_used_again_after_a_deletion(store: SqliteStore) -> None:
    first = await store.save(NS, NAME, spec={}, state={}, expect=0)
    await store.delete(NS, NAME, expect=first)
    second = await store.save(NS, NAME, spec={}, state={}, expect=0)
    assert second > first
    with pytest.raises(Conflict):
        await store.save(NS, NAME, spec={}, state={}, expect=first)


async def test_deletion_expects_a_version_too(store: SqliteStore) -> None:
    version = await store.save(NS, NAME, spec={}, state={}, expect=0)
    with pytest.raises(Conflict):
        await store.delete(NS, NAME, expect=version + 1)
    assert await store.load(NS, NAME) is not None


@pytest.mark.parametrize(
    ("spec", "state", "error"),
    [
        pytest.param({}, {"x": "a" * MAX_VALUE_BYTES}, InvariantBroken, id="state of more than 16 KiB"),
        pytest.param({"x": "ü" * (MAX_VALUE_BYTES // 2)}, {}, Refused, id="spec of more than 16 KiB, in bytes"),
        pytest.param({}, {"x": float("nan")}, ValueError, id="NaN is no JSON"),
    ],
)
async def test_values_that_must_not_be_stored(
    store: SqliteStore, spec: dict[str, object], state: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await store.save(NS, NAME, spec=spec, state=state, expect=0)
    assert await store.load(NS, NAME) is None


async def test_the_journal_keeps_order_and_the_newest(store: SqliteStore) -> None:
    for begin in range(0, JOURNAL_KEPT + 100, 100):
        await store.record(NS, NAME, [{"n": n} for n in range(begin, begin + 100)])
    kept = await store.journal(NS, NAME)
    assert [each["n"] for each in kept] == list(range(100, JOURNAL_KEPT + 100))
    assert [each["n"] for each in await store.journal(NS, NAME, limit=2)] == [JOURNAL_KEPT + 98, JOURNAL_KEPT + 99]


async def test_journals_of_two_shifts_are_apart(store: SqliteStore) -> None:
    await store.record(NS, "one", [{"n": 1}])
    await store.record(NS, "two", [{"n": 2}])
    await store.record(NS, "two", [])
    assert await store.journal(NS, "one") == [{"n": 1}]
    assert await store.journal(NS, "none") == []


async def test_an_entry_that_arrives_twice_is_kept_once(store: SqliteStore) -> None:
    await store.record(NS, NAME, [{"seq": 1}, {"seq": 2}])
    await store.record(NS, NAME, [{"seq": 1}, {"seq": 2}, {"seq": 3}])
    assert await store.journal(NS, NAME) == [{"seq": 1}, {"seq": 2}, {"seq": 3}]


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    first = await SqliteStore.open(tmp_path, NOON)
    version = await first.save(NS, NAME, spec=SPEC, state={"step": 3}, expect=0)
    await first.record(NS, NAME, [{"n": 1}])
    await first.close()
    second = await SqliteStore.open(tmp_path, NOON)
    loaded = await second.load(NS, NAME)
    journal = await second.journal(NS, NAME)
    await second.close()
    assert loaded is not None
    assert (loaded.version, loaded.state, journal, second.notices) == (version, {"step": 3}, [{"n": 1}], ())


async def test_a_second_controller_is_refused_and_told_the_pid_of_the_first(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=rf"pid {os.getpid()}"):
        await SqliteStore.open(tmp_path, NOON)


def _damage(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def _damage_pages(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)


def _make_newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()


def _make_foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "word", "sentence"),
    [
        pytest.param(_damage, "damaged", "is damaged", id="no SQLite file"),
        pytest.param(_damage_pages, "damaged", "is damaged", id="pages overwritten"),
        pytest.param(_make_newer, "newer", "newer Tidegate", id="a newer schema"),
        pytest.param(_make_foreign, "foreign", "not a state file of Tidegate", id="somebody else's database"),
    ],
)
async def test_an_unusable_file_is_kept_aside_and_a_new_one_begins(
    tmp_path: Path, spoil: object, word: str, sentence: str
) -> None:
    first = await SqliteStore.open(tmp_path, NOON)
    await first.save(NS, NAME, spec={"x": "y" * 10_000}, state={}, expect=0)
    await first.close()
    spoil(tmp_path / STATE_FILE)  # type: ignore[operator]
    before = (tmp_path / STATE_FILE).read_bytes()

    second = await SqliteStore.open(tmp_path, NOON)
    listed = await second.list()
    await second.close()

    kept = [path for path in _files(tmp_path) if f".{word}-20261130T120000" in path.name]
    assert listed == []
    assert [path.read_bytes() for path in kept] == [before]
    assert len(second.notices) == 1
    assert sentence in second.notices[0]
    assert kept[0].name in second.notices[0]


async def test_a_disk_that_fails_is_unavailable_not_a_crash(store: SqliteStore, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / STATE_FILE) as other:
        other.execute("DROP TABLE journal")
    other.close()
    with pytest.raises(Unavailable, match="state file"):
        await store.record(NS, NAME, [{"n": 1}])


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())
