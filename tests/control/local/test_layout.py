"""The addresses that `up` gives to processes are those that the mesh documents speak of."""

import contextlib
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.errors import StartFailed
from control.local.layout import GATEWAY_PORTS, VERSIONS, Layout, free_gateway_port
from control.local.manifests import SHIFT, render_documents
from control.spec.parse import parse_shift
from mesh.lease import lease

NET = "127.99.7"
LAYOUT = Layout(NET, Path("/nowhere"))


def documents(kind: str) -> dict[str, dict[str, Any]]:
    texts = render_documents(LAYOUT).values()
    found = [document for text in texts for document in yaml.safe_load_all(text) if document["kind"] == kind]
    return {document["metadata"]["name"]: document["spec"] for document in found}


WORKLOADS = [*(LAYOUT.translator(version) for version in VERSIONS), LAYOUT.detector(), LAYOUT.cache()]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_a_service_listens_where_its_sidecar_sends(workload: Any) -> None:
    ingress = documents("Sidecar")[workload.name]["ingress"]
    address = documents("WorkloadEntry")[workload.name]["address"]
    own = [entry["defaultEndpoint"].replace("0.0.0.0", address) for entry in ingress]  # Istio's "my own address"
    assert own == [workload.listen]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_mesh_reaches_the_sidecar_not_the_service(workload: Any) -> None:
    address = documents("WorkloadEntry")[workload.name]["address"]
    sidecar = documents("Sidecar")[workload.name]["ingress"][0]
    assert sidecar["bind"] == address == workload.listen.rpartition(":")[0]
    assert sidecar["port"]["number"] != int(workload.listen.rpartition(":")[2])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_translator_calls_out_through_its_sidecar(version: str) -> None:
    egress = documents("Sidecar")[f"translator-{version}"]["egress"]
    listeners = [f"{entry['bind']}:{entry['port']['number']}" for entry in egress]
    assert listeners == [LAYOUT.sidecar_to_detector(version), LAYOUT.sidecar_to_cache(version)]


def test_the_gateway_listens_where_run_json_says() -> None:
    server = documents("Gateway")["ingress"]["servers"][0]
    assert f"{server['bind']}:{server['port']['number']}" == LAYOUT.gateway


def test_the_shift_names_routes_and_subsets_that_exist() -> None:
    shift = parse_shift(SHIFT.read_bytes(), SHIFT.name)
    subsets = {subset["name"] for subset in documents("DestinationRule")["translator"]["subsets"]}
    services = documents("VirtualService")
    assert {shift.stable, shift.canary} == subsets
    for ref in shift.target.routes:
        assert ref.route in (None, services[ref.virtual_service]["http"][0]["name"])


def test_a_taken_port_of_the_gateway_is_passed_over() -> None:
    with lease() as net:
        address = net.address(2)
        with socket.create_server((address, free_gateway_port(net.net))) as taken:
            mine = taken.getsockname()[1]
            other = free_gateway_port(net.net)
            assert other in GATEWAY_PORTS
            assert other != mine
            assert Layout(net.net, Path("/nowhere"), other).gateway == f"{address}:{other}"


def test_no_port_left_is_said_with_the_line_to_type() -> None:
    with lease() as net, contextlib.ExitStack() as stack:
        for port in GATEWAY_PORTS:
            with contextlib.suppress(OSError):  # somebody else has it already: all the same
                stack.enter_context(socket.create_server((net.address(2), port)))
        with pytest.raises(StartFailed, match="all taken") as caught:
            free_gateway_port(net.net)
    assert "ss -ltnp" in caught.value.hint
