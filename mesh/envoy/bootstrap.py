"""With what does an Envoy start? Its identity, its admin address, and where to ask for everything else.

Data in, data out; written to a file as JSON by whoever starts the Envoy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

ADS_CLUSTER = "ads"
CLUSTER_NAME_TAG = {"tag_name": "envoy.cluster_name", "regex": r"^cluster(\.(.+);)"}
"""Clusters name themselves in statistics as their name and a semicolon. Without this, the dots of a host name would end
the label in the middle of the name."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One Envoy. `node` is its node id on the discovery stream; addresses are (host, port).

    `metadata` is what a discovery server other than ours must be told (istiod: labels, namespace, interception).
    """

    node: str
    cluster: str
    admin: tuple[str, int]
    ads: tuple[str, int]
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draining:
    """How an Envoy parts with old connections when a listener changes, and with all at its end."""

    drain: timedelta = timedelta(seconds=10)


def bootstrap(identity: Identity) -> dict[str, Any]:
    """Envoy's bootstrap configuration."""
    return {
        "node": {"id": identity.node, "cluster": identity.cluster, **_metadata(identity)},
        "admin": {"address": socket_address(identity.admin)},
        "dynamic_resources": {
            "ads_config": ads_config(),
            "cds_config": from_ads(),
            "lds_config": from_ads(),
        },
        "static_resources": {"clusters": [ads_cluster(identity.ads)]},
        "stats_config": {"stats_tags": [CLUSTER_NAME_TAG]},
        "stats_flush_interval": "1s",
        "overload_manager": overload(),
    }


def _metadata(identity: Identity) -> dict[str, Any]:
    return {"metadata": dict(identity.metadata)} if identity.metadata else {}


def command(program: str, bootstrap_file: str, draining: Draining | None = None) -> tuple[str, ...]:
    """The command line. One worker: a laptop runs many Envoys, and statistics of one worker are exact at once.

    Hot restart is off: it shares memory by a number that Envoys of two meshes would fight over.
    """
    drain = int((draining or Draining()).drain.total_seconds())
    return (
        *(program, "--config-path", bootstrap_file, "--concurrency", "1", "--disable-hot-restart"),
        *("--log-level", "warning", "--drain-time-s", str(drain), "--drain-strategy", "immediate"),
    )


def ads_config() -> dict[str, Any]:
    """One stream for all kinds; the node is sent on its first message only; a lost one is tried again soon."""
    soon = {"base_interval": "0.05s", "max_interval": "1s"}
    grpc = {"cluster_name": ADS_CLUSTER, "retry_policy": {"retry_back_off": soon}}
    return {
        "api_type": "GRPC",
        "transport_api_version": "V3",
        "set_node_on_first_message_only": True,
        "grpc_services": [{"envoy_grpc": grpc}],
    }


def from_ads() -> dict[str, Any]:
    """A source of configuration: the one aggregated stream, waited for without a limit."""
    return {"ads": {}, "resource_api_version": "V3", "initial_fetch_timeout": "0s"}


def ads_cluster(address: tuple[str, int]) -> dict[str, Any]:
    """The discovery server, with keep-alive so that one that hangs is noticed."""
    http2 = {"connection_keepalive": {"interval": "10s", "timeout": "5s"}}
    options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    endpoint = {"endpoint": {"address": socket_address(address)}}
    return {
        "name": ADS_CLUSTER,
        "type": "STATIC",
        "connect_timeout": "1s",
        "typed_extension_protocol_options": {
            options: {
                "@type": f"type.googleapis.com/{options}",
                "explicit_http_config": {"http2_protocol_options": http2},
            }
        },
        "load_assignment": {"cluster_name": ADS_CLUSTER, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def overload() -> dict[str, Any]:
    """A bound on downstream connections: far above a laptop's needs, below its file descriptors."""
    monitor = "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig"
    limit = {"@type": f"type.googleapis.com/{monitor}", "max_active_downstream_connections": 20000}
    name = "envoy.resource_monitors.global_downstream_max_connections"
    return {"resource_monitors": [{"name": name, "typed_config": limit}]}


def socket_address(address: tuple[str, int]) -> dict[str, Any]:
    """An address in Envoy's words."""
    return {"socket_address": {"address": address[0], "port_value": address[1]}}
