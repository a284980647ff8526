"""Can the local mesh run these documents together?"""

from dataclasses import replace
from typing import Any

import pytest

from mesh.istio.document import read_documents
from mesh.xds.translate import EncodeCache, check
from tests.support.xlate_documents import client, edge, make, rule, service, to, virtual_service

OUT = [{"hosts": ["~/*"]}]
INGRESS = {"port": {"number": 9000, "protocol": "GRPC"}, "bind": "127.8.0.1"}


def said(*documents: Any) -> list[tuple[str, str]]:
    return [
        (problem.file.split("-")[0] + "/" + problem.document[2], problem.message)
        for problem in check(documents)
        if problem.document
    ]


def workload(name: str, address: str = "127.8.0.1", **labels: str) -> Any:
    return make("WorkloadEntry", name, {"address": address, "labels": labels})


def sidecar(name: str, labels: dict[str, str], **spec: Any) -> Any:
    selector = {"workloadSelector": {"labels": labels}} if labels else {}
    return make("Sidecar", name, {"egress": OUT} | selector | spec)


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param([], id="nothing"),
        pytest.param(
            [*client(), edge("*"), service("shop"), rule("shop"), virtual_service("shop", [{"route": [to("shop")]}])],
            id="a mesh",
        ),
        pytest.param([service("shop"), service("shop", namespace="other")], id="namesakes in two namespaces"),
        pytest.param(
            [edge("a.example.com"), edge("b.example.com", name="more")], id="two Gateways at one address of one proxy"
        ),
        pytest.param([*client(), sidecar("rest", {})], id="the namespace's Sidecar beside one that selects"),
        pytest.param([*client(ingress=[INGRESS | {"defaultEndpoint": "unix:///run/a"}])], id="a socket is no address"),
        pytest.param(
            [
                workload("a", app="a"),
                workload("b", app="a"),
                make(
                    "Gateway",
                    "none",
                    {"servers": [{"port": {"number": 1, "protocol": "HTTP"}, "bind": "127.8.0.9", "hosts": ["*"]}]},
                ),
            ],
            id="nothing that meets",
        ),
    ],
)
def test_what_is_fine(documents: Any) -> None:
    assert check(documents) == []


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        pytest.param(
            [service("a", hosts=["x.example.com"]), service("b", hosts=["x.example.com"])],
            [("ServiceEntry/b", "the host x.example.com is already a service of the ServiceEntry a")],
            id="one host, two services",
        ),
        pytest.param(
            [workload("w", app="w"), sidecar("a", {"app": "w"}), sidecar("b", {"app": "w"})],
            [("Sidecar/b", "the workload w is already selected by the Sidecar a")],
            id="two Sidecars for a workload",
        ),
        pytest.param(
            [workload("w", app="w"), sidecar("a", {}), sidecar("b", {})],
            [("Sidecar/b", "the workload w is already selected by the Sidecar a")],
            id="two Sidecars for a namespace",
        ),
        pytest.param(
            [*client(), *client(name="other")],
            [("Sidecar/other", "127.8.0.1:50051 is already listened on for the Sidecar client")],
            id="two ways out at one address",
        ),
        pytest.param(
            [
                *client(
                    ingress=[
                        INGRESS | {"port": {"number": 50051, "protocol": "GRPC"}, "defaultEndpoint": "127.0.0.1:1"}
                    ]
                )
            ],
            [("Sidecar/client", "127.8.0.1:50051 is already listened on for the Sidecar client")],
            id="in and out at one address",
        ),
        pytest.param(
            [*client(ingress=[INGRESS | {"defaultEndpoint": "0.0.0.0:9000"}])],
            [("Sidecar/client", "127.8.0.1:9000 is already listened on for the Sidecar client")],
            id="an Envoy before itself",
        ),
        pytest.param(
            [*client(bind="x"), edge("*", bind="127.8.0.1", port=50051)],
            [("Sidecar/client", "unknown field 'bind' in spec")],
            id="a refused document takes no address",
        ),
        pytest.param(
            [*client(), edge("*", bind="127.8.0.1", port=50051)],
            [("Sidecar/client", "127.8.0.1:50051 is already listened on for the Gateway edge")],
            id="a gateway's address",
        ),
    ],
)
def test_what_documents_say_against_each_other(documents: Any, expected: Any) -> None:
    assert said(*documents) == expected


@pytest.mark.parametrize(
    ("address", "selected", "refused"),
    [
        pytest.param("127.8.0.1", True, False, id="loopback"),
        pytest.param("::1", True, False, id="loopback of IPv6"),
        pytest.param("10.0.0.1", True, True, id="elsewhere"),
        pytest.param("a.example.com", True, True, id="a name"),
        pytest.param("unix:///run/a", True, True, id="a socket"),
        pytest.param("10.0.0.1", False, False, id="elsewhere, without an Envoy"),
        pytest.param("unix:///run/a", False, False, id="a socket, without an Envoy"),
    ],
)
def test_where_a_workload_with_an_envoy_may_be(address: str, selected: bool, refused: bool) -> None:
    labels = {"app": "w" if selected else "other"}
    found = said(workload("w", address, app="w"), sidecar("s", labels))
    message = f"a workload with an Envoy needs a loopback address, not {address!r}"
    assert found == ([("WorkloadEntry/w", message)] if refused else [])


def test_documents_are_compared_when_each_is_fine_alone() -> None:
    broken = service("b", hosts=["x.example.com"], subjectAltNames=["x"])
    found = said(service("a", hosts=["x.example.com"]), broken)
    assert found == [
        (
            "ServiceEntry/b",
            "spec.subjectAltNames is not supported by the local mesh: there are no certificates on loopback",
        )
    ]


def test_fields_come_before_rules() -> None:
    both = virtual_service("shop", [{"route": [], "mirror": {}}])
    assert said(both) == [("VirtualService/shop", "spec.http[0].mirror.host is missing")]


def test_a_problem_names_file_line_and_column() -> None:
    head = b"---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\n"
    text = head + b"spec:\n  host: a\n  tls: {}\n"
    found, _ = read_documents("a.yaml", b"# first\n" + text)
    (problem,) = check(found)
    assert str(problem).startswith("a.yaml:8:3: unknown field 'tls' in spec")


def test_a_document_is_looked_at_once_a_revision() -> None:
    cache = EncodeCache()
    documents = [*client(), service("shop"), rule("shop", zzz=1)]
    first = check(documents, cache)
    size = len(cache)
    assert check(list(reversed(documents)), cache) == first
    assert len(cache) == size


def test_a_kind_that_nobody_reads() -> None:
    """Readers drop such documents; one that comes all the same is refused, not ignored."""
    (problem,) = check([replace(service("shop"), kind="EnvoyFilter")])
    assert problem.message == "kind EnvoyFilter is not supported by the local mesh yet"
