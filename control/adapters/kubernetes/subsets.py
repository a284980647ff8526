"""Which subsets does a host's DestinationRule lack, and how are they added to it? Pure.

The only change of a DestinationRule that there is: subsets at its end, asked for by `manageSubsets`. A patch proves the
generation that it was made from, so that two who add at once add once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from control.adapters.kubernetes.api import Json
from control.adapters.kubernetes.informer import Key
from control.adapters.kubernetes.routes import Held
from mesh.istio.hosts import full_name

LABEL = "version"


@dataclass(frozen=True, slots=True)
class Addition:
    """Subsets that are missing, and what adds them: a patch of the rule `key`, or the whole of a new one."""

    key: Key
    names: tuple[str, ...]
    patch: tuple[Json, ...] = ()
    document: Json | None = None

    @property
    def rule(self) -> str:
        return f"DestinationRule {'/'.join(self.key)}"


def addition(rules: Mapping[Key, Held], namespace: str, host: str, names: Sequence[str]) -> Addition | None:
    """What is missing of these subsets; None when nothing is. Rules of the shift's and the host's namespace count."""
    fqdn = full_name(host, namespace)
    of_host = {key: each for key, each in sorted(rules.items()) if _is_of(key, each, fqdn, namespace)}
    known = {each["name"] for rule in of_host.values() for each in rule.spec.get("subsets") or ()}
    missing = tuple(name for name in names if name not in known)
    if not missing:
        return None
    subsets = [{"name": name, "labels": {LABEL: name}} for name in missing]
    own = next((key for key in of_host if key[0] == namespace), None)
    if own is None:
        return Addition((namespace, fqdn.split(".")[0]), missing, document=_rule(namespace, host, fqdn, subsets))
    return Addition(own, missing, patch=_added(of_host[own], subsets))


def _is_of(key: Key, rule: Held, fqdn: str, namespace: str) -> bool:
    return key[0] in (namespace, fqdn.split(".")[1]) and full_name(rule.spec.get("host", ""), key[0]) == fqdn


def _added(rule: Held, subsets: Sequence[Json]) -> tuple[Json, ...]:
    proof = {"op": "test", "path": "/metadata/generation", "value": rule.generation}
    if rule.spec.get("subsets"):
        return (proof, *({"op": "add", "path": "/spec/subsets/-", "value": each} for each in subsets))
    return proof, {"op": "add", "path": "/spec/subsets", "value": list(subsets)}


def _rule(namespace: str, host: str, fqdn: str, subsets: Sequence[Json]) -> Json:
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": {"name": fqdn.split(".")[0], "namespace": namespace},
        "spec": {"host": host, "subsets": list(subsets)},
    }
