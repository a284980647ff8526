"""The discovery server over real gRPC, with clients that are no Envoys."""

from collections.abc import AsyncIterator

import grpc
import grpc.aio
import pytest

from mesh.xds.server import METHOD, SERVICE, AdsServer
from mesh.xds.snapshot import Kind, Snapshot
from mesh.xds.subscription import Request
from mesh.xds.wire import write_request
from tests.support.ads_client import ads_clients
from tests.support.ads_model import world
from tests.support.mesh_wait import until

CLUSTERS = {f"outbound|80|v{n}|svc": "1" for n in range(4)}
ROUTES = {f"{8000 + n}": "outbound|80|v1|svc" for n in range(50)}


def stepped(weight: int) -> Snapshot:
    return world(CLUSTERS, {**ROUTES, "8007": f"outbound|80|v1|svc outbound|80|v2|svc {weight}"})


@pytest.fixture
async def ads() -> AsyncIterator[tuple[AdsServer, str]]:
    server = AdsServer()
    address = await server.start("127.0.0.1:0")
    yield server, address
    await server.stop()


async def test_200_streams_acknowledge_a_step_and_are_sent_nothing_but_the_changed_route(
    ads: tuple[AdsServer, str],
) -> None:
    server, address = ads
    nodes, before, after = [f"node-{n}" for n in range(200)], stepped(1), stepped(2)
    server.publish(dict.fromkeys(nodes, before))
    async with ads_clients(address, nodes, before) as clients:
        await until(lambda: all(len(server.acked(node, Kind.ROUTE)) == 50 for node in nodes), within_s=90)
        for client in clients:
            client.heard.clear()
        server.publish(dict.fromkeys(nodes, after))
        wanted = after.of(Kind.ROUTE)["8007"].digest
        await until(lambda: all(server.runs(node, Kind.ROUTE, "8007", wanted) for node in nodes), within_s=90)
        assert all([len(response.bodies) for response in client.heard] == [1] for client in clients)
        assert {client.heard[0].type_url for client in clients} == {str(Kind.ROUTE)}
        assert {client.heard[0].bodies[0] for client in clients} == {after.of(Kind.ROUTE)["8007"].body}


async def test_a_node_that_leaves_is_no_longer_connected_and_acknowledges_nothing(ads: tuple[AdsServer, str]) -> None:
    server, address = ads
    server.publish({"node": stepped(1)})
    async with ads_clients(address, ["node"], stepped(1)):
        assert server.connected("node")
    await until(lambda: not server.connected("node"))
    assert server.acked("node", Kind.ROUTE) == {}
    assert server.rejections("node") == []


async def test_what_is_no_request_ends_its_stream_only(ads: tuple[AdsServer, str]) -> None:
    _, address = ads
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.stream_stream(f"/{SERVICE}/{METHOD}")()
        await call.write(b"\x0b\x0b")
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
        assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_other_methods_are_not_there(ads: tuple[AdsServer, str]) -> None:
    _, address = ads
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.stream_stream(f"/{SERVICE}/DeltaAggregatedResources")()
        await call.write(write_request("node", Request(Kind.CLUSTER)))
        with pytest.raises(grpc.aio.AioRpcError):
            await call.read()
        assert await call.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_taken_address_is_an_os_error(ads: tuple[AdsServer, str]) -> None:
    with pytest.raises(OSError, match="cannot listen on"):
        await AdsServer().start(ads[1])
