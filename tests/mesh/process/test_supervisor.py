"""The supervisor with real processes: readiness, death, restart, stop, and no orphans."""

import asyncio
import json
import os
import signal
import socket
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from mesh.process import Backoff, ChildEvent, ChildFailed, ChildSpec, ChildState, JsonLine, PortOpen, Probe, Supervisor
from tests.support.mesh_wait import alive, until

READY = "import json,time,sys; print('chatter'); print(json.dumps({'ready': True, 'x': 1}), flush=True); "
FOREVER = READY + "time.sleep(600)"
LISTENER = """
import socket, time
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", {port}))
listener.listen()
time.sleep(600)
"""
STUBBORN = """
import json, signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
print(json.dumps({"ready": True, "grandchild": child.pid}), flush=True)
time.sleep(600)
"""


def python(name: str, folder: Path, program: str, **options: object) -> ChildSpec:
    options = {"ready": JsonLine(), **options}
    return ChildSpec(name, (sys.executable, "-c", program), folder, **options)  # type: ignore[arg-type]


async def test_the_json_line_is_the_ready_value_and_stdout_is_logged(tmp_path: Path) -> None:
    async with Supervisor() as supervisor:
        child = await supervisor.start(python("a", tmp_path, FOREVER))
        assert child.ready_value == {"ready": True, "x": 1}
        assert child.spec.out_log.read_text().splitlines()[0] == "chatter"
        pid = child.pid
        assert pid is not None
        assert os.getpgid(pid) == pid
    assert not alive(pid)


async def test_a_port_makes_ready(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = LISTENER.format(port=port)
    async with Supervisor() as supervisor:
        child = await supervisor.start(python("a", tmp_path, program, ready=PortOpen("127.0.0.1", port)))
        assert child.state is ChildState.READY


async def test_a_probe_makes_ready_and_gives_the_value(tmp_path: Path) -> None:
    async def wait() -> str:
        return "well"

    async with Supervisor() as supervisor:
        assert (await supervisor.start(python("a", tmp_path, FOREVER, ready=Probe(wait)))).ready_value == "well"


async def broken_probe() -> None:
    raise OSError("nobody home")


@pytest.mark.parametrize(
    ("program", "options", "words"),
    [
        pytest.param("raise SystemExit('bad config')", {}, ["exited with code 1", "bad config"], id="dies at start"),
        pytest.param("import os; os.kill(os.getpid(), 9)", {}, ["killed by SIGKILL"], id="is killed at start"),
        pytest.param(
            "import time, sys; print('not json {', flush=True); time.sleep(600)",
            {"ready_within": timedelta(milliseconds=200)},
            ["not ready within 0.2 s"],
            id="is never ready",
        ),
        pytest.param(
            FOREVER, {"ready": Probe(broken_probe)}, ["ready check failed: nobody home"], id="ready check fails"
        ),
    ],
)
async def test_a_child_that_does_not_become_ready_says_why(
    tmp_path: Path, program: str, options: dict[str, object], words: list[str]
) -> None:
    async with Supervisor() as supervisor:
        with pytest.raises(ChildFailed) as failed:
            await supervisor.start(python("a", tmp_path, program, **options))
        assert all(word in str(failed.value) for word in words)
        assert supervisor.children == {}


async def test_a_missing_program_names_the_line_to_type(tmp_path: Path) -> None:
    async with Supervisor() as supervisor:
        spec = ChildSpec("a", ("no-such-program",), tmp_path, install_hint="apt-get install no-such-program")
        with pytest.raises(ChildFailed, match=r"no-such-program is not there.*\(apt-get install no-such-program\)"):
            await supervisor.start(spec)


async def test_death_is_noticed_and_answered_by_a_restart(tmp_path: Path) -> None:
    events: list[ChildEvent] = []
    async with Supervisor(on_event=events.append) as supervisor:
        child = await supervisor.start(
            python("a", tmp_path, FOREVER, restart=Backoff(first=timedelta(milliseconds=10)))
        )
        first = child.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await until(lambda: child.incarnation == 2 and child.state is ChildState.READY)
        assert child.pid != first
    assert [event.state for event in events] == ["ready", "waiting", "ready", "stopped"]
    assert "killed by SIGKILL" in events[1].sentence


async def test_a_child_that_keeps_dying_is_tried_again_and_again(tmp_path: Path) -> None:
    healthy = tmp_path / "healthy"
    healthy.touch()
    program = f"import os; os.path.exists({str(healthy)!r}) or os._exit(3)\n" + FOREVER
    async with Supervisor() as supervisor:
        backoff = Backoff(first=timedelta(milliseconds=1), most=timedelta(milliseconds=5))
        child = await supervisor.start(python("a", tmp_path, program, restart=backoff))
        healthy.unlink()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        await until(lambda: child.incarnation >= 4)
        healthy.touch()
        pid = await until(lambda: child.state is ChildState.READY and child.pid)
        assert alive(pid)


async def test_without_restart_a_death_is_final(tmp_path: Path) -> None:
    events: list[ChildEvent] = []
    async with Supervisor(on_event=events.append) as supervisor:
        child = await supervisor.start(python("a", tmp_path, READY + "sys.exit('enough')", restart=None))
        await until(lambda: child.state is ChildState.DEAD)
        assert child.pid is None
    assert "enough" in events[1].sentence


async def test_one_that_ignores_sigterm_is_killed_with_its_children(tmp_path: Path) -> None:
    program = STUBBORN
    async with Supervisor() as supervisor:
        child = await supervisor.start(python("a", tmp_path, program, stop_within=timedelta(milliseconds=50)))
        pid, grandchild = child.pid, child.ready_value["grandchild"]
        assert pid is not None
        await supervisor.stop("a")
        await until(lambda: not alive(pid) and not alive(grandchild))
        assert supervisor.children == {}


async def test_two_children_of_one_name_are_refused(tmp_path: Path) -> None:
    async with Supervisor() as supervisor:
        await supervisor.start(python("a", tmp_path, FOREVER))
        with pytest.raises(ValueError, match="already there"):
            await supervisor.start(python("a", tmp_path, FOREVER))


RUNNER = """
import asyncio, json, pathlib, sys
from mesh.process import ChildSpec, JsonLine, Supervisor
CHILD = '''import json,subprocess,time,os
p=subprocess.Popen(['sleep','600'])
print(json.dumps({'ready': True, 'child': os.getpid(), 'grandchild': p.pid}), flush=True)
time.sleep(600)'''
async def main():
    async with Supervisor() as supervisor:
        folder = pathlib.Path(sys.argv[1])
        child = await supervisor.start(ChildSpec('c', (sys.executable, '-c', CHILD), folder, ready=JsonLine()))
        print(json.dumps(child.ready_value), flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


async def test_a_supervisor_killed_by_sigkill_leaves_neither_child_nor_grandchild(tmp_path: Path) -> None:
    runner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUNNER, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert runner.stdout is not None
    value = json.loads(await asyncio.wait_for(runner.stdout.readline(), 20))
    assert alive(value["child"])
    assert alive(value["grandchild"])
    runner.kill()
    await runner.wait()
    await until(lambda: not alive(value["child"]) and not alive(value["grandchild"]))


@pytest.mark.parametrize(("failures", "milliseconds"), [(1, 100), (2, 200), (3, 400), (7, 5000), (1000, 5000)])
def test_the_backoff_doubles_up_to_its_limit(failures: int, milliseconds: int) -> None:
    assert Backoff().delay(failures) == timedelta(milliseconds=milliseconds)
