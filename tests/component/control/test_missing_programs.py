"""What does `tidegate up` say on a machine that lacks the programs of others?"""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

TIDEGATE = str(Path(sys.executable).parent / "tidegate")


@pytest.mark.envoy
def test_up_without_redis_and_apertium_names_the_lines_to_type_and_leaves_no_process(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    words = [TIDEGATE, "up", "--state-dir", str(state_dir)]
    nothing = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=90, check=False, env=nothing)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "first level only (install it: sudo apt-get install -y redis-server)" in done.stderr
    assert "Type: sudo apt-get install -y apertium lttoolbox apertium-lex-tools cg3" in done.stderr
    line = "sudo apt-get install -y apertium lttoolbox apertium-lex-tools cg3"
    assert f"hint: type: {line}; the logs are in {state_dir / 'logs'}" in done.stderr
    for name in ("translator-v1", "translator-v2"):
        assert f"up: {name} did not start" in done.stderr
    assert (state_dir / "logs" / "translator-v1.err.log").read_text().startswith("translator: Apertium lacks")
    ours = [each.info["cmdline"] for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"]]
    assert [words for words in ours if any(str(state_dir) in word for word in words)] == []
