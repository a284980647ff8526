"""An Envoy refuses what it is sent: that is shown, is not repeated, and what it ran before goes on."""

from dataclasses import replace
from pathlib import Path

import pytest
from envoy_data_plane.envoy.config.route import v3 as route

from mesh.xds.snapshot import Kind, Snapshot, snapshot
from mesh.xds.translate.resources import ROUTE, resource
from tests.support.backend import backend, client
from tests.support.mesh_running import EDGE, GATEWAY_ONLY, running_mesh
from tests.support.mesh_wait import until

pytestmark = pytest.mark.envoy


def with_every_virtual_host_twice(sound: Snapshot) -> Snapshot:
    """A snapshot that an Envoy refuses: domains of a route configuration must be unique."""
    routes = {}
    for name, each in sound.of(Kind.ROUTE).items():
        message = route.RouteConfiguration.parse(each.body)
        message.virtual_hosts = [*message.virtual_hosts, *message.virtual_hosts]
        routes[name] = resource(ROUTE, name, bytes(message))
    parts = {"clusters": Kind.CLUSTER, "endpoints": Kind.ENDPOINT, "listeners": Kind.LISTENER}
    return snapshot(routes=routes, **{name: sound.of(kind) for name, kind in parts.items()})


async def test_a_refused_route_is_shown_and_not_sent_again(tmp_path: Path) -> None:
    async with running_mesh(tmp_path, GATEWAY_ONLY) as mesh, backend("v1", f"{mesh.net}.11:50051"):
        live, ads = mesh.mesh.live, mesh.mesh.ads
        held = live.held["ingress.default"]
        broken = with_every_virtual_host_twice(held.snapshot)
        for _ in range(3):
            ads.publish({held.node.node_id: broken})
        await until(lambda: ads.rejections(held.node.node_id), what="the refusal")
        ads.publish({held.node.node_id: broken})
        live.held["ingress.default"] = replace(held, snapshot=broken)
        edge = next(document for document in live.world.documents if document.name == "edge")
        [(proxy, reason)] = live.revision_state(edge.key, edge.revision).rejections
        assert proxy == "ingress.default"
        assert "route http.8080" in reason
        assert "unique" in reason
        async with client(mesh.gateway, EDGE) as caller:
            assert await caller.call() == "v1"
        stats = await mesh.mesh.envoys.running["ingress.default"].admin.stats("rds.*update_rejected")
        assert list(stats.values()) == [1]
        ads.publish({held.node.node_id: held.snapshot})
        await until(lambda: not ads.rejections(held.node.node_id), what="the sound one is taken")
