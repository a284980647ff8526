"""What is a person told when several processes would not start?"""

from pathlib import Path

import pytest

from control.errors import StartFailed
from control.local.start import install_line, start_together
from mesh.process import ChildSpec, JsonLine, Supervisor


def child(name: str, script: str, folder: Path) -> ChildSpec:
    return ChildSpec(name, ("sh", "-c", script), folder, ready=JsonLine())


async def test_everyone_that_fails_is_heard_and_what_all_lack_is_one_line(tmp_path: Path) -> None:
    says: list[str] = []
    specs = [
        child("fast", "echo 'lacks a. Type: sudo apt-get install -y aa bb' >&2; exit 1", tmp_path),
        child("slow", "sleep 0.3; echo 'lacks c. Type: sudo apt-get install -y bb cc' >&2; exit 1", tmp_path),
        child("well", """echo '{"ready": true}'; sleep 60""", tmp_path),
        ChildSpec("absent", ("no-such-program",), tmp_path, install_hint="sudo apt-get install -y d-1.2"),
    ]
    async with Supervisor() as supervisor:
        with pytest.raises(StartFailed) as caught:
            await start_together(supervisor, specs, says.append, logs=tmp_path)
        assert list(supervisor.children) == ["well"]
    assert caught.value.hint == f"type: sudo apt-get install -y aa bb cc d-1.2; the logs are in {tmp_path}"
    for name in ("fast", "slow", "absent"):
        assert f"\n{name}: " in caught.value.message.replace("started: ", "started:\n")
    assert sorted(says) == [*(f"{name} did not start" for name in ("absent", "fast", "slow")), "well is ready"]


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        pytest.param([], "", id="nothing failed"),
        pytest.param(["exited with code 1"], "", id="nothing is missing"),
        pytest.param(["Type: sudo apt-get install -y one"], "sudo apt-get install -y one", id="one"),
        pytest.param(["(sudo apt-get install -y aa bb)", "sudo apt-get install -y bb cc."],
                     "sudo apt-get install -y aa bb cc",
                     id="two lines, what both name once"),
        pytest.param(["sudo apt-get install -y aa\nsudo apt-get install -y bb"], "sudo apt-get install -y aa bb",
                     id="two lines in one text"),
        pytest.param(["sudo apt-get install -y g++-12 Now"], "sudo apt-get install -y g++-12", id="words behind it"),
    ],
)  # fmt: skip
def test_lines_to_type_become_one(texts: list[str], line: str) -> None:
    assert install_line(texts) == line
