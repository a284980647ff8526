"""`skaffold render` and `skaffold diagnose`, by the real skaffold: all that `skaffold dev` does but build and run."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.local.cluster.tools import HELM, KUBE, SKAFFOLD, built
from tests.support.control_story import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.long]
PROFILES = ((), ("-p", "restricted"), ("-p", "helm"))


@pytest.fixture(scope="module")
def programs() -> tuple[Path, str]:
    """skaffold, and the PATH on which it finds what it drives."""
    found = [built(module, print) for module in (KUBE, HELM)]
    return built(SKAFFOLD, print) / "skaffold", os.pathsep.join([*map(str, found), os.environ["PATH"]])


def run(programs: tuple[Path, str], folder: Path, *words: str) -> str:
    skaffold, path = programs
    env = {"PATH": path, "HOME": str(folder), "SKAFFOLD_INTERACTIVE": "false", "SKAFFOLD_UPDATE_CHECK": "false"}
    done = subprocess.run(
        [skaffold, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("profile", PROFILES, ids=["plain", "restricted", "helm"])
def test_it_diagnoses_nothing(programs: tuple[Path, str], tmp_path: Path, profile: tuple[str, ...]) -> None:
    parts = list(yaml.safe_load_all(run(programs, tmp_path, "diagnose", "--yaml-only", *profile)))
    assert {each["metadata"]["name"] for each in parts} == {"controller", "workload"}


@pytest.mark.parametrize("profile", PROFILES[:2], ids=["plain", "restricted"])
def test_it_renders_offline_what_kustomize_has(
    programs: tuple[Path, str], tmp_path: Path, profile: tuple[str, ...]
) -> None:
    name = "mirror.example.internal/tidegate/tidegate" if profile else "tidegate"
    words = ("render", "--offline", "--digest-source=tag", "--default-repo=registry.example/us", *profile)
    documents = [each for each in yaml.safe_load_all(run(programs, tmp_path, *words)) if each]
    kinds = {each["kind"] for each in documents}
    assert {"CustomResourceDefinition", "TrafficShift", "ValidatingAdmissionPolicy", "VirtualService"} <= kinds
    images = {container["image"].partition(":")[0] for each in documents for container in _containers(each)}
    assert f"registry.example/us/{re.sub('[./]', '_', name)}" in images


def _containers(document: dict[str, Any]) -> list[dict[str, Any]]:
    if document["kind"] != "Deployment":
        return []
    found: list[dict[str, Any]] = document["spec"]["template"]["spec"]["containers"]
    return found
