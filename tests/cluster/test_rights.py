"""What the controller may do and what not, asked of the real authorizer. That it suffices is what each story shows."""

import json

import pytest

from control.doctor.rights import NEEDED
from control.local.cluster.places import CONTROLLER
from control.local.cluster.running import Cluster

pytestmark = pytest.mark.cluster
ISTIO = "networking.istio.io"
Asked = tuple[str, str, str, str, str]
"""Verb, group, resource (with its subresource), namespace, name."""
PLACES = {"shifts": "shop", "own": "tidegate-system", "istio": "istio-system", "cluster": ""}
NEEDS: tuple[Asked, ...] = tuple(
    (each.verb, each.group, each.resource, PLACES[each.place], each.name) for each in NEEDED
)
MUST_NOT: tuple[Asked, ...] = (
    ("get", "", "secrets", "shop", ""),
    ("get", "", "configmaps", "shop", ""),
    ("create", "", "pods", "shop", ""),
    ("create", "", "pods/exec", "shop", ""),
    ("delete", "", "pods", "shop", ""),
    ("create", ISTIO, "virtualservices", "shop", ""),
    ("update", ISTIO, "virtualservices", "shop", "cart"),
    ("delete", ISTIO, "virtualservices", "shop", "cart"),
    ("patch", ISTIO, "destinationrules", "shop", "cart"),
    ("patch", ISTIO, "gateways", "shop", "edge"),
    ("create", "networking.istio.io", "envoyfilters", "shop", ""),
    ("create", "tidegate.dev", "trafficshifts", "shop", ""),
    ("delete", "tidegate.dev", "trafficshifts", "shop", "cart"),
    ("patch", "apps", "deployments", "shop", "cart"),
    ("update", "coordination.k8s.io", "leases", "tidegate-system", "another"),
    ("update", "coordination.k8s.io", "leases", "kube-system", "tidegate"),
    ("list", "discovery.k8s.io", "endpointslices", "shop", ""),
    ("patch", "rbac.authorization.k8s.io", "clusterroles", "", "tidegate-traffic"),
    ("patch", "admissionregistration.k8s.io", "validatingadmissionpolicies", "", "tidegate-weights-only"),
    ("get", "admissionregistration.k8s.io", "validatingadmissionpolicies", "", "another"),
    ("impersonate", "", "users", "", "alice"),
    ("create", "", "serviceaccounts/token", "tidegate-system", "tidegate"),
)


async def allowed(cluster: Cluster, asked: Asked, user: str = CONTROLLER) -> bool:
    verb, group, resource, namespace, name = asked
    kind, _, sub = resource.partition("/")
    attributes = {"verb": verb, "group": group, "resource": kind, "subresource": sub}
    attributes |= {"namespace": namespace, "name": name}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": attributes},
    }
    answer = await cluster.kubectl_run("create", "-f", "-", "-o", "json", stdin=json.dumps(review))
    return bool(json.loads(answer)["status"]["allowed"])


@pytest.mark.parametrize("asked", NEEDS, ids="-".join)
async def test_the_controller_may(cluster: Cluster, asked: Asked) -> None:
    assert await allowed(cluster, asked)


@pytest.mark.parametrize("asked", MUST_NOT, ids="-".join)
async def test_the_controller_may_not(cluster: Cluster, asked: Asked) -> None:
    assert not await allowed(cluster, asked)


async def test_who_may_edit_a_namespace_may_edit_its_shifts_and_who_may_view_it_may_view_them(cluster: Cluster) -> None:
    for user, role in (("alice", "edit"), ("bob", "view")):
        await cluster.kubectl_run("create", "rolebinding", user, f"--clusterrole={role}", f"--user={user}")
    try:
        wanted = ("patch", "tidegate.dev", "trafficshifts", "default", "echo")
        seen = ("list", "tidegate.dev", "trafficshifts", "default", "")
        elsewhere = ("patch", "tidegate.dev", "trafficshifts", "shop", "echo")
        status = ("patch", "tidegate.dev", "trafficshifts/status", "default", "echo")
        answers = {
            (user, each): await allowed(cluster, each, user)
            for user in ("alice", "bob")
            for each in (wanted, seen, elsewhere, status)
        }
    finally:
        await cluster.kubectl_run("delete", "rolebinding", "alice", "bob")
    assert {key for key, may in answers.items() if may} == {("alice", wanted), ("alice", seen), ("bob", seen)}
