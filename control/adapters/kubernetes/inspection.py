"""What can be found out about a cluster by asking its API server once? Whatever refuses becomes a fact."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from control.adapters.kubernetes.api import ACCESS_REVIEWS, BINDINGS, POLICIES, Json, Kind, KubeApi
from control.adapters.kubernetes.istiod import Istiods
from control.doctor.facts import Istiod, Lease, Rights
from control.doctor.facts import Kind as KindFacts
from control.doctor.rights import Right
from control.errors import NotFound, TidegateError

KINDS = Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions")
LEASES = Kind("coordination.k8s.io", "v1", "leases")
REVIEWS_OF_OTHERS = Kind("authorization.k8s.io", "v1", "subjectaccessreviews")
OURS = "trafficshifts.tidegate.dev"


async def kind(api: KubeApi, known: frozenset[str]) -> KindFacts:
    """The custom resource, beside the fields of its spec that we know."""
    try:
        item = await api.get(KINDS, "", OURS)
    except NotFound:
        return KindFacts(installed=False)
    except TidegateError as error:
        return KindFacts(trouble=error.message)
    return KindFacts(True, fields_of(item), known)


def fields_of(definition: Json) -> frozenset[str]:
    """The fields of the spec that a definition keeps."""
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return frozenset(schema["properties"]["spec"].get("properties", ()))


async def rights(api: KubeApi, wanted: Sequence[Right], places: Mapping[str, str], user: str = "") -> Rights:
    """What the caller may do, or `user`. `places` are the namespaces of the rights."""
    allowed: dict[str, bool] = {}
    for each in wanted:
        resource, _, sub = each.resource.partition("/")
        attributes = {"verb": each.verb, "group": each.group, "resource": resource, "subresource": sub}
        attributes |= {"namespace": places.get(each.place, ""), "name": each.name}
        spec: dict[str, Any] = {"resourceAttributes": attributes} | ({"user": user} if user else {})
        review = "SubjectAccessReview" if user else "SelfSubjectAccessReview"
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": review, "spec": spec}
        try:
            answer = await api.create(REVIEWS_OF_OTHERS if user else ACCESS_REVIEWS, "", body)
        except TidegateError as error:
            return Rights(trouble=error.message)
        allowed[str(each)] = bool(answer["status"]["allowed"]) and allowed.get(str(each), True)
    return Rights(allowed)


async def policies(api: KubeApi, names: Sequence[str]) -> dict[str, bool | None]:
    """Which of them stand, with a binding that denies. None of one that may not be looked at."""
    return {name: await stands(api, name) for name in names}


async def stands(api: KubeApi, name: str) -> bool | None:
    """Is an admission policy there, with a binding of its name that denies? None where it may not be looked at."""
    try:
        await api.get(POLICIES, "", name)
        binding = await api.get(BINDINGS, "", name)
    except NotFound:
        return False
    except TidegateError:
        return None
    return "Deny" in binding["spec"].get("validationActions", ())


async def lease(api: KubeApi, namespace: str, name: str, now: datetime) -> Lease:
    """Who leads."""
    try:
        item = await api.get(LEASES, namespace, name)
    except NotFound:
        return Lease()
    except TidegateError as error:
        return Lease(trouble=error.message)
    spec = item.get("spec", {})
    if not spec.get("renewTime"):
        return Lease()
    renewed = datetime.fromisoformat(spec["renewTime"].replace("Z", "+00:00")).astimezone(UTC)
    return Lease(spec.get("holderIdentity") or "", (now - renewed).total_seconds(), spec.get("leaseDurationSeconds", 0))


async def istiods(asked: Istiods) -> tuple[Istiod, ...]:
    """Each replica, and how many proxies it sends routes to."""
    try:
        return tuple([await _one(asked, each) for each in await asked.replicas()])
    except TidegateError as error:
        return (Istiod("istiod", trouble=error.message),)


async def _one(asked: Istiods, replica: str) -> Istiod:
    try:
        return Istiod(replica, sum(bool(each.get("route_sent")) for each in await asked.syncz(replica)))
    except TidegateError as error:
        return Istiod(replica, trouble=error.message)
