"""What do istioctl and Istio's own validation say about documents? Asked once and kept as `golden/lint.json`."""

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import yaml

from control.local.cluster.tools import ISTIO, built
from tests.conformance.corpus import HOME, Case, case_of, cases, read
from tests.conformance.golden import GOLDEN, digest

FILE = GOLDEN / "lint.json"
BROKEN = Path(__file__).parent / "lint" / "broken.yaml"
KINDS = ("VirtualService", "DestinationRule", "Gateway", "ServiceEntry")
_INVALID = "IST0106"


@dataclass(frozen=True, slots=True)
class Said:
    """What istioctl says about one case: is it valid, and which errors do its analyzers find (by code, sorted)?"""

    digest: str
    valid: bool
    errors: tuple[str, ...]


@cache
def linted() -> Mapping[str, Case]:
    """The hand-written cases and those with one mistake each, by name."""
    written = {case.name: case for case in cases(HOME) if case.group != "generated"}
    broken = [case_of(data, "broken", HOME) for data in read(BROKEN)]
    return written | {f"broken/{case.name}": case for case in broken}


def ask() -> dict[str, Said]:
    """istioctl's answers to every case; about a third of a second each."""
    istioctl = str(built(ISTIO, print) / "istioctl")
    with tempfile.TemporaryDirectory(prefix="tidegate-istioctl-") as folder:
        return {name: _said(istioctl, case, Path(folder) / "case.yaml") for name, case in linted().items()}


def _said(istioctl: str, case: Case, file: Path) -> Said:
    file.write_text("---\n".join(yaml.safe_dump(each.manifest()) for each in (*case.scene, *case.documents)))
    command = [istioctl, "analyze", "--use-kube=false", "--all-namespaces", "--output=json", str(file)]
    analyzed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found = [each for each in json.loads(analyzed.stdout or "[]") if each.get("level") == "Error"]
    about = {each["code"] for each in found if each["origin"].split(" ")[0] in KINDS}
    validated = subprocess.run(
        [istioctl, "validate", "--filename", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    return Said(digest(case), validated.returncode == 0, tuple(sorted(about - {_INVALID})))


def write(said: Mapping[str, Said]) -> None:
    """Keeps the answers, one a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(asdict(each))}" for name, each in sorted(said.items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def kept() -> dict[str, Said]:
    """The kept answers by case."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: Said(each["digest"], each["valid"], tuple(each["errors"])) for name, each in found.items()}
