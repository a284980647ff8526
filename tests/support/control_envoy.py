"""One real Envoy with a static configuration, in front of versions of a gRPC echo: for the truth about its counters."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import grpc

from mesh.lease import lease
from tests.support.mesh_wait import until

FQDN = "echo.default.svc.cluster.local"
ENVOY = Path(sys.executable).parent / "envoy"
RETRIES = {"retry_on": "connect-failure,refused-stream,unavailable,cancelled", "num_retries": 2}
TYPE = "type.googleapis.com/envoy.extensions"


class Echo(grpc.GenericRpcHandler):
    """Answers as the method's name says: Ok, Hang, or the name of a status (Once and After qualify it)."""

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any]":
        name = details.method.rsplit("/", 1)[1]
        attempt = int(dict(details.invocation_metadata).get("x-envoy-attempt-count", "1"))

        async def answer(_request: bytes, context: Any) -> bytes:
            if name == "HANG":
                await asyncio.Event().wait()
            if name.endswith("_AFTER"):
                await context.send_initial_metadata(())
            code = name.removesuffix("_AFTER").removesuffix("_ONCE")
            if code != "OK" and not (name.endswith("_ONCE") and attempt > 1):
                await context.abort(grpc.StatusCode[code], "as asked")
            return b"ok"

        return grpc.unary_unary_rpc_method_handler(answer)


@asynccontextmanager
async def envoy(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """An Envoy whose paths begin with the version (v1, refused, empty). Yields its listener and its admin address."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([Echo()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    with lease() as net:
        admin, listener = f"{net.address(1)}:15000", f"{net.address(2)}:8080"
        path = folder / "envoy.json"
        path.write_text(json.dumps(_configuration(admin, listener, {"v1": port, "refused": 1, "empty": None})))
        log = (folder / "envoy.log").open("wb")
        process = await asyncio.create_subprocess_exec(
            ENVOY, "-c", path, "--use-dynamic-base-id", "--concurrency", "1", "-l", "error", stdout=log, stderr=log
        )
        try:
            await _live(admin)
            yield listener, admin
        finally:
            process.kill()
            await process.wait()
            log.close()
            await server.stop(None)


async def _live(admin: str) -> None:
    async def ready() -> bool:
        with contextlib.suppress(aiohttp.ClientError):
            async with session.get(f"http://{admin}/ready") as response:
                return response.status == 200
        return False

    async with aiohttp.ClientSession() as session:
        await until(ready, within_s=90, what="Envoy is live")


def _configuration(admin: str, listener: str, versions: Mapping[str, int | None]) -> dict[str, Any]:
    router = {"@type": f"{TYPE}.filters.http.router.v3.Router"}
    grpc_stats = {"@type": f"{TYPE}.filters.http.grpc_stats.v3.FilterConfig", "emit_filter_state": True}
    manager = {
        "@type": f"{TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "test",
        "http_filters": [
            {"name": "envoy.filters.http.grpc_stats", "typed_config": grpc_stats},
            {"name": "envoy.filters.http.router", "typed_config": router},
        ],
        "route_config": {"virtual_hosts": [_virtual_host(versions)]},
    }
    chain = {"filters": [{"name": "http", "typed_config": manager}]}
    listeners = [{"name": "in", "address": _address(listener), "filter_chains": [chain]}]
    clusters = [_cluster(version, port) for version, port in versions.items()]
    return {
        "admin": {"address": _address(admin)},
        "static_resources": {"listeners": listeners, "clusters": clusters},
    }


def _virtual_host(versions: Mapping[str, int | None]) -> dict[str, Any]:
    routes = [
        {
            "match": {"prefix": f"/{version}/"},
            "route": {"cluster": _name(version), "timeout": "0s", "retry_policy": RETRIES},
        }
        for version in versions
    ]
    short = {"match": {"prefix": "/short/"}, "route": {"cluster": _name("v1"), "timeout": "0.2s"}}
    return {"name": "all", "domains": ["*"], "include_request_attempt_count": True, "routes": [*routes, short]}


def _cluster(version: str, port: int | None) -> dict[str, Any]:
    protocol = f"{TYPE}.upstreams.http.v3.HttpProtocolOptions"
    places = [{"endpoint": {"address": _address(f"127.0.0.1:{port}")}}] if port else []
    return {
        "name": _name(version),
        "alt_stat_name": f"{_name(version)};",
        "connect_timeout": "1s",
        "type": "STATIC",
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": protocol,
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
        "load_assignment": {"cluster_name": _name(version), "endpoints": [{"lb_endpoints": places}]},
    }


def _name(version: str) -> str:
    return f"outbound|50051|{version}|{FQDN}"


def _address(text: str) -> dict[str, Any]:
    host, _, port = text.rpartition(":")
    return {"socket_address": {"address": host, "port_value": int(port)}}
