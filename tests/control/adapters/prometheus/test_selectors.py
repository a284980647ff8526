"""The queries for built-in counters: each name exactly, whatever it is made of."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from promql_parser import MatrixSelector, parse

from control.adapters.prometheus.selectors import Subject, any_of, durations, quoted, requests, retries, up

WINDOW = timedelta(seconds=75)
SHOP = Subject("shop.default.svc.cluster.local", ("v1", "v2"))
CART = Subject("cart.default.svc.cluster.local", ("blue", "v2"))


def test_one_query_names_every_service_and_version_once() -> None:
    assert requests([SHOP, CART], WINDOW) == (
        'istio_requests_total{reporter=~"source|destination",'
        'destination_service=~"cart\\\\.default\\\\.svc\\\\.cluster\\\\.local|shop\\\\.default\\\\.svc\\\\.cluster\\\\.local",'
        'destination_version=~"blue|v1|v2"}[75000ms]'
    )


@pytest.mark.parametrize("family", [requests, durations, retries])
@given(name=st.text(max_size=20))
def test_no_name_breaks_out_of_its_string(family, name: str) -> None:  # type: ignore[no-untyped-def]
    query = family([Subject(name, (name,))], WINDOW)
    assert isinstance(parse(query), MatrixSelector)


@given(st.text(max_size=20))
def test_a_quoted_text_is_read_as_that_text(name: str) -> None:
    selector = parse(f"up{{x={quoted(name)}}}")
    assert [(each.name, each.value) for each in selector.matchers.matchers] == [("x", name)]  # type: ignore[attr-defined]


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1), st.text(max_size=8))
def test_a_pattern_matches_its_names_and_nothing_else(names: list[str], other: str) -> None:
    pattern = any_of(names)
    assert all(re.fullmatch(pattern, name) for name in names)
    assert bool(re.fullmatch(pattern, other)) == (other in names)


def test_targets_are_named_with_their_ports() -> None:
    assert up(["10.0.0.1:15020"], timedelta(minutes=5)) == 'up{instance=~"10\\\\.0\\\\.0\\\\.1:15020"}[300000ms]'
