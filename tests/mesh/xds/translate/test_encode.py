"""Are the bytes those of the library, and is nothing made twice?"""

from datetime import timedelta
from typing import Any

import pytest
from envoy_data_plane.envoy.config.cluster import v3 as cluster
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.type import v3 as envoy_type
from envoy_data_plane.google.protobuf import Struct, Value
from hypothesis import given
from hypothesis import strategies as st

from mesh.xds.translate.encode import EncodeCache, Memo, any_of, encode, make, nested, varint
from tests.support.xlate_documents import client, edge, resources, rule, service, to, virtual_service
from tests.support.xlate_envoy import message

MESSAGES = [
    pytest.param(route.Route(), id="nothing"),
    pytest.param(route.Route(name="ä", match=route.RouteMatch(prefix="/")), id="text and message"),
    pytest.param(route.RouteMatch(prefix="", case_sensitive=False), id="zeros that are said"),
    pytest.param(
        route.RouteConfiguration(validate_clusters=False, ignore_port_in_host_matching=False), id="zeros that aren't"
    ),
    pytest.param(route.RetryPolicy(num_retries=0, retriable_status_codes=[503, 70000]), id="a packed list"),
    pytest.param(route.RetryPolicy(host_selection_retry_max_attempts=-1), id="a negative number"),
    pytest.param(route.RouteAction(timeout=timedelta(0)), id="no duration at all"),
    pytest.param(route.RouteAction(timeout=timedelta(seconds=3, milliseconds=7)), id="a duration"),
    pytest.param(core.ConfigSource(ads=core.AggregatedConfigSource()), id="an empty message"),
    pytest.param(cluster.Cluster(lb_policy=cluster.ClusterLbPolicy.RANDOM), id="a word of a closed set"),
    pytest.param(envoy_type.Percent(value=12.5), id="a fraction"),
    pytest.param(
        route.VirtualHost(domains=["a", "b"], routes=[route.Route(name="x"), route.Route(name="y")]), id="lists"
    ),
    pytest.param(core.Metadata(filter_metadata={"a": Struct(fields={"b": Value(string_value="c")})}), id="maps"),
    pytest.param(core.DataSource(inline_bytes=b"\x00\x01"), id="bytes"),
    pytest.param(
        route.RetryPolicyRetryHostPredicate(typed_config=any_of(route.Route(name="x"))), id="a message within Any"
    ),
]


@pytest.mark.parametrize("made", MESSAGES)
def test_bytes_are_the_librarys(made: Any) -> None:
    assert encode(made) == bytes(made)


def test_a_message_made_without_the_librarys_checks_is_the_same() -> None:
    light = make(route.Route, name="a", match=make(route.RouteMatch, prefix="/"), request_headers_to_remove=["x"])
    whole = route.Route(name="a", match=route.RouteMatch(prefix="/"), request_headers_to_remove=["x"])
    assert encode(light) == bytes(light) == bytes(whole)


def test_messages_share_no_lists() -> None:
    first, second = make(route.VirtualHost), make(route.VirtualHost)
    first.domains.append("a")
    assert second.domains == []


def test_a_float_too() -> None:
    assert encode(cluster.ClusterMaglevLbConfig(table_size=5)) == bytes(cluster.ClusterMaglevLbConfig(table_size=5))


@given(number=st.integers(min_value=-(2**63), max_value=2**64 - 1))
def test_varints_come_back(number: int) -> None:
    value = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(varint(number)))
    assert value == number % 2**64


def test_fields_may_be_joined() -> None:
    whole = route.VirtualHost(name="a", domains=["*"], routes=[route.Route(name="r")])
    parts = encode(route.VirtualHost(name="a", domains=["*"])) + nested(3, encode(route.Route(name="r")))
    assert route.VirtualHost.parse(parts) == whole


def test_every_resource_is_what_the_library_would_write() -> None:
    documents = [
        *client(ingress=[{"port": {"number": 9000, "protocol": "HTTP"}, "bind": "127.8.0.1"}]),
        edge("*"),
        service("shop"),
        rule("shop"),
        virtual_service("shop", [{"route": [to("shop", "v1", 9), to("shop", "v2", 1)]}]),
        virtual_service("edge", [{"route": [to("shop")]}], hosts=["a.example.com"], gateways=["edge"]),
    ]
    for proxy in ("client.default", "edge.default"):
        found = resources(documents, proxy)
        for group in (found.clusters, found.endpoints, found.listeners, found.routes):
            for item in group.values():
                assert bytes(message(item)) == item.body, item.name


def test_a_value_is_built_once() -> None:
    memo, built = Memo(), []

    def build() -> object:
        built.append(1)
        return object()

    assert memo.get("a", build) is memo.get("a", build)
    assert len(built) == 1


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    memo = Memo(limit=2)
    first = memo.get("a", object)
    memo.get("b", object)
    assert memo.get("a", object) is first
    memo.get("c", object)
    assert len(memo) == 2
    assert memo.get("a", object) is first


def test_a_moment_is_known_by_its_very_tuple() -> None:
    cache, documents = EncodeCache(), ("x",)
    first = cache.of_moment(documents, object)
    assert cache.of_moment(documents, object) is first
    assert cache.of_moment(["x"], object) is not first
    again = ["x"]
    assert cache.of_moment(again, object) is not cache.of_moment(again, object), "a list may have changed"
