"""What people install: the wheel holds everything that runs, the locks pin everything and name no address."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("dev.lock", "install.lock")


def files(root: Path, *folders: str) -> set[str]:
    found = (path for folder in folders for path in (root / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(root)) for path in found if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    out = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(out.glob("*.whl")))


def test_the_wheel_holds_every_file_of_the_product(wheel: zipfile.ZipFile) -> None:
    product = files(ROOT, "control", "mesh", "services") | files(ROOT / "protos", "tidegate")
    assert product - set(wheel.namelist()) == set()


@pytest.mark.parametrize(
    "name",
    [
        "mesh/manifests/local/translator.yaml.j2",
        "mesh/manifests/translator-shift.yaml",
        "services/loadgen/data/en.txt",
        "services/loadgen/data/NOTICE",
        "tidegate/control/v1/control_pb2_grpc.py",
    ],
)
def test_the_wheel_holds_what_is_no_module_of_ours(wheel: zipfile.ZipFile, name: str) -> None:
    assert name in wheel.namelist()


def test_the_wheel_says_who_it_is(wheel: zipfile.ZipFile) -> None:
    (info,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    text = wheel.read(f"{info}/METADATA").decode()
    assert "License-Expression: Apache-2.0" in text
    assert "Requires-Dist: grpcio\n" in text
    assert f"{info}/licenses/LICENSE" in wheel.namelist()
    assert "tidegate = control.cli.main:main" in wheel.read(f"{info}/entry_points.txt").decode()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_by_hash_and_names_no_address(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert re.findall(r"://|--(?:extra-)?index-url|--find-links|--trusted-host", text) == []
    entries = re.split(r"\n(?=\S)", text.replace("\\\n", " ").strip())
    assert len(entries) > 50
    assert [entry for entry in entries if not re.match(r"[\w.\[\]-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)] == []


def test_what_the_product_needs_is_locked() -> None:
    wanted = {
        line.partition("[")[0]
        for line in (ROOT / "requirements" / "runtime.in").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
    for name in LOCKS:
        locked = set(
            re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==", (ROOT / "requirements" / name).read_text(), re.MULTILINE)
        )
        assert wanted - locked == set(), name
