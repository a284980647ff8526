"""Which addresses must answer for a subset to have ready endpoints: read from documents."""

import pytest

from control.adapters.localmesh.endpoints import Endpoint, endpoints
from control.errors import NotFound
from mesh.istio.document import Document, read_documents

SERVICE = """
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: echo, namespace: default}
spec:
  hosts: [echo.default.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 50051, name: grpc, protocol: GRPC}]
  workloadSelector: {labels: {app: echo}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: echo, namespace: default}
spec:
  host: echo
  subsets:
    - {name: v1, labels: {version: v1}}
    - {name: v2, labels: {version: v2}}
    - {name: all}
"""
V1 = """
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: echo-v1, namespace: default}
spec: {address: 127.64.0.11, labels: {app: echo, version: v1}}
"""
V2 = """
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: echo-v2, namespace: default}
spec: {address: 127.64.0.12, labels: {app: echo, version: v2}, ports: {grpc: 6001}}
"""
ELSEWHERE = V1.replace("namespace: default", "namespace: elsewhere")
OTHER_APP = V1.replace("app: echo", "app: other")


def sidecar(endpoint: str, port: int = 50051, version: str = "v1") -> str:
    return f"""
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{name: echo-{version}, namespace: default}}
spec:
  workloadSelector: {{labels: {{app: echo, version: {version}}}}}
  ingress:
    - port: {{number: {port}, name: grpc, protocol: GRPC}}
      defaultEndpoint: {endpoint}
"""


INLINE = """
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: inline, namespace: default}
spec:
  hosts: [inline.example.com]
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}]
  endpoints:
    - {address: 127.64.0.21, labels: {version: v1}}
    - {address: 127.64.0.22, labels: {version: v2}, ports: {http: 9090}}
    - {address: "unix:///run/echo.sock", labels: {version: v3}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: inline, namespace: default}
spec:
  host: inline.example.com
  subsets:
    - {name: v1, labels: {version: v1}}
    - {name: v2, labels: {version: v2}}
    - {name: v3, labels: {version: v3}}
"""


def read(text: str) -> list[Document]:
    documents, problems = read_documents("mesh.yaml", text.encode())
    assert problems == []
    return documents


@pytest.mark.parametrize(
    ("text", "host", "subset", "expected"),
    [
        pytest.param(SERVICE + V1 + V2, "echo", "v1", [["127.64.0.11:50051"]], id="one workload without a sidecar"),
        pytest.param(SERVICE + V1 + V2, "echo", "v2", [["127.64.0.12:6001"]], id="a workload with its own port"),
        pytest.param(
            SERVICE + V1 + V2,
            "echo",
            "all",
            [["127.64.0.11:50051"], ["127.64.0.12:6001"]],
            id="a subset without labels",
        ),
        pytest.param(
            SERVICE + V1,
            "echo.default.svc.cluster.local",
            "v1",
            [["127.64.0.11:50051"]],
            id="the full name of the host",
        ),
        pytest.param(SERVICE + V1, "echo", "v2", [], id="a subset without a workload"),
        pytest.param(SERVICE + ELSEWHERE, "echo", "v1", [], id="a workload of another namespace"),
        pytest.param(SERVICE + OTHER_APP, "echo", "v1", [], id="a workload of another service"),
        pytest.param(
            SERVICE + V1 + sidecar("127.0.0.1:7001"),
            "echo",
            "v1",
            [["127.64.0.11:50051", "127.0.0.1:7001"]],
            id="a sidecar: its listener and the service behind it",
        ),
        pytest.param(
            SERVICE + V1 + sidecar("unix:///run/echo.sock"),
            "echo",
            "v1",
            [["127.64.0.11:50051", "unix:/run/echo.sock"]],
            id="a sidecar in front of a unix socket",
        ),
        pytest.param(
            SERVICE + V1 + sidecar("0.0.0.0:7001"),
            "echo",
            "v1",
            [["127.64.0.11:50051", "127.64.0.11:7001"]],
            id="0.0.0.0 is the workload's own address",
        ),
        pytest.param(
            SERVICE + V1 + sidecar("127.0.0.1:7001", port=9), "echo", "v1", [["127.64.0.11:50051"]], id="another port"
        ),
        pytest.param(
            SERVICE + V1 + sidecar("127.0.0.1:7001", version="v2"),
            "echo",
            "v1",
            [["127.64.0.11:50051"]],
            id="somebody else's sidecar",
        ),
        pytest.param(INLINE, "inline.example.com", "v1", [["127.64.0.21:8080"]], id="inline, target port"),
        pytest.param(INLINE, "inline.example.com", "v2", [["127.64.0.22:9090"]], id="inline, own port"),
        pytest.param(INLINE, "inline.example.com", "v3", [["unix:/run/echo.sock"]], id="inline, unix socket"),
    ],
)
def test_endpoints_of_a_subset(text: str, host: str, subset: str, expected: list[list[str]]) -> None:
    found = endpoints(read(text), "default", host, subset)
    assert [list(each.addresses) for each in found] == expected


def test_an_endpoint_carries_the_name_of_its_workload() -> None:
    assert endpoints(read(SERVICE + V1), "default", "echo", "v1") == [Endpoint("echo-v1", ("127.64.0.11:50051",))]


@pytest.mark.parametrize(
    ("host", "subset", "hint"),
    [
        pytest.param("echo", "v3", "subsets that exist: v1, v2, all", id="the subset is not declared"),
        pytest.param("other", "v1", "subsets that exist: none", id="the host has no DestinationRule"),
    ],
)
def test_what_is_not_declared_is_named_with_what_is(host: str, subset: str, hint: str) -> None:
    with pytest.raises(NotFound) as caught:
        endpoints(read(SERVICE + V1), "default", host, subset)
    assert caught.value.hint == hint
