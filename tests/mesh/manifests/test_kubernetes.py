"""Rules that every manifest keeps, without a cluster: what a person would check by eye in each pull request."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from control.local.cluster.running import MANIFESTS
from control.settings import Settings
from services.cache_proxy.__main__ import main as cache_proxy
from services.lang_detector.__main__ import main as lang_detector
from services.translator.__main__ import main as translator

Document = dict[str, Any]
FILES = sorted(path for path in MANIFESTS.rglob("*.yaml") if path.name != "crd.yaml")
PROGRAMS = {"translator": translator, "lang_detector": lang_detector, "cache_proxy": cache_proxy}


def documents(*kinds: str) -> Iterator[Document]:
    for path in FILES:
        for each in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if each and each.get("kind") in kinds:
                yield each


DEPLOYMENTS = list(documents("Deployment"))
CONTAINERS = [
    pytest.param(container, deployment, id=deployment["metadata"]["name"])
    for deployment in DEPLOYMENTS
    for container in deployment["spec"]["template"]["spec"]["containers"]
]


@pytest.mark.parametrize(("container", "deployment"), CONTAINERS)
def test_a_container_asks_for_what_it_needs_and_may_do_nothing_else(container: Document, deployment: Document) -> None:
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for kind in ("requests", "limits"):
        assert set(container["resources"][kind]) == {"cpu", "memory"}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]


@pytest.mark.parametrize(("container", "deployment"), CONTAINERS)
def test_an_image_is_pinned_and_ours_is_of_this_version(container: Document, deployment: Document) -> None:
    name, _, tag = container["image"].partition(":")
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+)?", tag)
    assert name == "redis" or tag == version("tidegate")
    assert deployment["spec"]["replicas"] >= (1 if name == "redis" else 2)


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each["metadata"]["name"])
def test_what_chooses_pods_finds_them(deployment: Document) -> None:
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    namespace = deployment["metadata"]["namespace"]
    budgets = [each["spec"]["selector"]["matchLabels"] for each in documents("PodDisruptionBudget")]
    policies = [
        each["spec"]["podSelector"]["matchLabels"]
        for each in documents("NetworkPolicy")
        if each["metadata"]["namespace"] == namespace
    ]
    assert labels["app"] == "redis" or any(each.items() <= labels.items() for each in budgets)
    assert any(each.items() <= labels.items() for each in policies)


def test_what_is_chosen_is_there() -> None:
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in DEPLOYMENTS]
    ports = {port["name"] for case in CONTAINERS for port in case.values[0]["ports"]}  # type: ignore[index]
    names = {each["metadata"]["name"] for each in DEPLOYMENTS}
    for service in documents("Service"):
        assert any(service["spec"]["selector"].items() <= each.items() for each in labels)
        for port in service["spec"]["ports"]:
            assert port["targetPort"] in ports
            assert port["name"].partition("-")[0] in ("grpc", "tcp", "http")
    for scaler in documents("HorizontalPodAutoscaler"):
        assert scaler["spec"]["scaleTargetRef"]["name"] in names


def test_the_controller_is_set_by_settings_that_exist() -> None:
    (controller,) = [case.values[0] for case in CONTAINERS if case.id == "tidegate"]
    known = {f"TIDEGATE_{each.upper()}" for each in Settings.__dataclass_fields__}
    assert {each["name"] for each in controller["env"]} <= known  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    "container",
    [case.values[0] for case in CONTAINERS if "services." in str(case.values[0].get("command"))],  # type: ignore[union-attr]
)
def test_a_service_is_started_with_options_that_it_has(container: Document) -> None:
    program = PROGRAMS[container["command"][-1].rpartition(".")[2]]
    answer = CliRunner().invoke(program, [*container["args"], "--help"])
    assert answer.exit_code == 0
    known = {option for parameter in program.params for option in parameter.opts}
    assert {each for each in container["args"] if each.startswith("--")} <= known


def test_policies_deny_and_fail_closed() -> None:
    policies = {each["metadata"]["name"]: each for each in documents("ValidatingAdmissionPolicy")}
    bindings = {each["spec"]["policyName"]: each for each in documents("ValidatingAdmissionPolicyBinding")}
    assert policies.keys() == bindings.keys()
    assert all(each["spec"]["failurePolicy"] == "Fail" for each in policies.values())
    assert all(each["spec"]["validationActions"] == ["Deny"] for each in bindings.values())
