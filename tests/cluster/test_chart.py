"""The Helm chart, by the real helm: what it installs is what kustomize installs."""

import asyncio
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.local.cluster.running import MANIFESTS, Cluster
from control.local.cluster.tools import HELM, KUBERNETES, built
from tests.cluster.test_manifests import namespace, rendered

pytestmark = [pytest.mark.cluster, pytest.mark.long]
CHART = MANIFESTS.parent / "helm" / "tidegate"
Key = tuple[str, str, str]


@pytest.fixture(scope="module")
def helm() -> Path:
    return built(HELM, print) / "helm"


def run(helm: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([helm, *words], capture_output=True, text=True, check=False, timeout=120)


def template(helm: Path, *words: str, into: str = "tidegate-system") -> dict[Key, Any]:
    names = ("template", "tidegate", str(CHART), "-n", into, "--include-crds", "--kube-version", KUBERNETES)
    done = run(helm, *names, *words)
    assert done.returncode == 0, done.stderr
    return by_key([each for each in yaml.safe_load_all(done.stdout) if each])


def by_key(documents: Sequence[Any]) -> dict[Key, Any]:
    def key(document: Any) -> Key:
        metadata = document["metadata"]
        return document["kind"], metadata.get("namespace", ""), metadata["name"]

    return {key(each): each for each in documents}


@pytest.mark.parametrize(
    ("overlay", "values"), [("cluster", ()), ("namespaced", ("--set", "namespace=shop"))], ids=["cluster", "namespaced"]
)
async def test_it_installs_what_kustomize_installs(
    cluster: Cluster, helm: Path, overlay: str, values: tuple[str, ...]
) -> None:
    """The namespace aside, which `--create-namespace` makes."""
    wanted = by_key(await rendered(cluster, overlay))
    del wanted["Namespace", "", "tidegate-system"]
    assert await asyncio.to_thread(template, helm, *values) == wanted


async def test_what_can_be_set_is_accepted_word_for_word(cluster: Cluster, helm: Path) -> None:
    """Another namespace, another image, a claim for the ledger, no policies, users that the cluster gives out."""
    await cluster.kubectl_run("apply", "-f", "-", stdin=namespace("traffic"))
    sets = ("image.repository=mirror.example/tidegate,image.tag=9.9.9", "replicas=3", "ledgerClaim=ledger")
    sets = (*sets, "policies=false", "fixedUser=false", "manageSubsets=true")
    words = [word for each in sets for word in ("--set", each)]
    found = await asyncio.to_thread(template, helm, *words, into="traffic")
    pod = found["Deployment", "traffic", "tidegate"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "mirror.example/tidegate:9.9.9"
    assert "runAsUser" not in pod["securityContext"]
    assert pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "ledger"}
    assert ("ClusterRole", "", "tidegate-subsets") in found
    assert not [key for key in found if key[0].startswith("ValidatingAdmissionPolicy")]
    text = "\n---\n".join(json.dumps(each) for each in found.values())
    words = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--force-conflicts", "-f", "-"]
    assert len((await cluster.kubectl_run(*words, stdin=text)).splitlines()) == len(found)


def test_policies_follow_the_namespace(helm: Path) -> None:
    found = template(helm, into="traffic")
    policies = [each for key, each in found.items() if key[0] == "ValidatingAdmissionPolicy"]
    text = json.dumps(policies)
    assert "system:serviceaccount:traffic:tidegate" in text
    assert "tidegate-system" not in text


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("replicas=0", "replicas"),
        ("prometheus=nowhere", "prometheus"),
        ("replica=2", "replica"),
        ("policies=3", "policies"),
    ],
)
def test_what_can_t_be_set_is_refused_by_name(helm: Path, value: str, why: str) -> None:
    done = run(helm, "template", str(CHART), "--kube-version", KUBERNETES, "--set", value)
    assert done.returncode != 0
    assert why in done.stderr


def test_lint_finds_nothing(helm: Path) -> None:
    done = run(helm, "lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout
