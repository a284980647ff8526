"""Leases of loopback nets: one owner at a time, given back at the end, nets with listeners passed over."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mesh.lease import lease, listening_nets, nets, run_folder, try_lock


def test_two_leases_differ_and_a_closed_one_is_free_again(tmp_path: Path) -> None:
    with lease(tmp_path) as first, lease(tmp_path) as second:
        assert first.net != second.net
        assert first.address(2) == f"{first.net}.2"
        assert try_lock(tmp_path / first.net) is None
    assert list(tmp_path.iterdir()) == [], "a lease that is given back leaves nothing"
    assert try_lock(tmp_path / first.net) is not None


def test_a_lock_on_a_file_that_was_taken_away_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lease(tmp_path)
    opened = os.open
    monkeypatch.setattr(os, "open", lambda *words: (opened(*words), first.close())[0])
    assert try_lock(first.file) is None


def test_a_net_with_a_listener_is_passed_over(tmp_path: Path) -> None:
    with lease(tmp_path) as first:
        net = first.net
    with socket.socket() as listener:
        listener.bind((f"{net}.9", 0))
        listener.listen()
        with lease(tmp_path) as second:
            assert second.net != net


HOLDER = """
import pathlib, sys, time
from mesh.lease import lease
held = lease(pathlib.Path(sys.argv[1]))
print(held.net, flush=True)
time.sleep(600)
"""


def test_a_lease_ends_with_its_process_however_it_ends(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        net = holder.stdout.readline().strip()
        assert try_lock(tmp_path / net) is None
        holder.kill()
        holder.wait()
    assert try_lock(tmp_path / net) is not None


def test_every_net_comes_up_once() -> None:
    found = list(nets(12345))
    assert len(set(found)) == len(found) == 64 * 256
    assert all(64 <= int(net.split(".")[1]) <= 127 for net in found)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0: 0203407F:1F90 00000000:0000 0A 00000000:00000000", {"127.64.3"}),
        ("0: 0203407F:1F90 00000000:0000 01 00000000:00000000", set()),
    ],
    ids=["a listener counts", "a connection does not"],
)
def test_listening_nets(line: str, expected: set[str]) -> None:
    assert listening_nets([line]) == expected


def test_the_run_folder_is_private() -> None:
    assert run_folder().stat().st_mode & 0o777 == 0o700
