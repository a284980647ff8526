"""Which findings of lint are a shift's own: those of its routes, of rivals for its host, and of its host's subsets."""

from control.doctor.linted import HERE, linted
from control.spec import parse_shift
from mesh.istio.document import read_documents
from mesh.istio.lint import RULES

SHIFT = parse_shift(
    b"""{apiVersion: tidegate.dev/v1alpha1, kind: TrafficShift, metadata: {name: cart, namespace: shop}, spec: {target:
    {host: cart, routes: [{virtualService: cart}]}, stable: v1, canary: v2}}""",
    "shift.yaml",
)
SERVICE = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: NAME, namespace: shop}
spec:
  hosts: [HOST]
  http: [{route: [{destination: {host: HOST, subset: v1}}]}]
"""


def service(name: str, host: str) -> str:
    return SERVICE.replace("NAME", name).replace("HOST", host)


def told(*texts: str) -> list[tuple[str, str]]:
    documents, problems = read_documents("documents", "\n---\n".join(texts).encode())
    assert not problems
    return [(each.code, each.sentence.split(":")[0]) for each in linted(documents, SHIFT)]


def test_what_is_well_is_nothing_to_tell_and_services_need_not_be_known() -> None:
    assert told(service("cart", "cart")) == []


def test_a_rival_for_the_host_is_told_of_both_documents() -> None:
    rivals = told(service("cart", "cart"), service("other", "cart.shop.svc.cluster.local"))
    assert rivals == [("IST0109", "VirtualService cart"), ("IST0109", "VirtualService other")]


def test_rivals_for_another_host_are_not_this_shifts() -> None:
    assert told(service("cart", "cart"), service("a", "pay"), service("b", "pay")) == []


def test_each_rule_that_is_named_exists() -> None:
    assert {rule.name for rule in RULES} >= HERE
