"""A person's PromQL: variables that can't break out of where they stand, and queries that can't be what they should."""

import time

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.spec.promql import rendered, variables_in
from control.spec.promql_faults import Wanted, faults
from tests.support.spec_shifts import QUICK, parsed, problems

V = '{version="{{ version }}"}'
EVIL = '"} or vector(1) #'


def values(version: str) -> dict[str, str]:
    return {"namespace": "shop", "host": "cart.shop", "service": "cart", "version": version, "interval": "5s"}


@pytest.mark.parametrize(
    ("query", "version", "expected"),
    [
        pytest.param('up{v="{{ version }}"}', "v2", 'up{v="v2"}', id="as it is"),
        pytest.param('up{v="{{version}}"}', "v2", 'up{v="v2"}', id="without spaces"),
        pytest.param('up{v="x-{{ version }}-y"}', "v2", 'up{v="x-v2-y"}', id="beside other text"),
        pytest.param('up{v="{{ version }}"}', EVIL, r'up{v="\"} or vector(1) #"}', id="a quote"),
        pytest.param("up{v='{{ version }}'}", "a'b\"c", "up{v='a\\'b\"c'}", id="the other quote"),
        pytest.param('up{v="{{ version }}"}', "a\\", r'up{v="a\\"}', id="a backslash at the end"),
        pytest.param('up{v="{{ version }}"}', "a\nb", r'up{v="a\x0ab"}', id="a line break"),
        pytest.param('up{v="{{ version }}"}', "{{ host }}", 'up{v="{{ host }}"}', id="what looks like a variable"),
        pytest.param('up{v="{{ version }}"}', "v.2", 'up{v="v.2"}', id="a dot is a dot"),
        pytest.param('up{v=~"{{ version }}|b"}', "v.2", 'up{v=~"v\\\\.2|b"}', id="in a pattern too"),
        pytest.param('up{v !~ "{{ version }}"}', "a|b", 'up{v !~ "a\\\\|b"}', id="in a pattern that must not match"),
        pytest.param('a\\"{{ version }}"', "v2", 'a\\"v2"', id="in a string after a stray backslash"),
        pytest.param('rate(up{v="a"}[{{ interval }}])', "v2", 'rate(up{v="a"}[5s])', id="the interval, outside quotes"),
        pytest.param('up{a="\\"{{ version }}"}', "v2", 'up{a="\\"v2"}', id="after an escaped quote"),
        pytest.param('up{a="#"} # why', "v2", 'up{a="#"} # why', id="a comment"),
        pytest.param('up{a="{{ namespace }}/{{ host }}/{{ service }}"}', "", 'up{a="shop/cart.shop/cart"}', id="all"),
    ],
)
def test_variables_are_filled_in_and_escaped(query: str, version: str, expected: str) -> None:
    assert rendered(query, values(version)) == expected


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        pytest.param('up{v="{{ vesion }}"}', r"no variable .. vesion ..: did you mean .. version ..", id="near"),
        pytest.param('up{v="{{ zone }}"}', r"no variable .. zone ..: known are namespace, host", id="far"),
        pytest.param("{{ version }}", "outside of quotes: write label=", id="outside of quotes"),
        pytest.param("up{v=`{{ version }}`}", "backticks, where nothing can be escaped", id="in backticks"),
        pytest.param('up{v="a"} # {{ version }}', "a variable in a comment", id="in a comment"),
        pytest.param('up{v="{{ version }}', "outside of quotes", id="in a string without end"),
        pytest.param('up{v="{{ }}"}', r"no variable \{\{  \}\}", id="without a name"),
    ],
)
def test_a_variable_where_none_is_safe_is_refused(query: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        rendered(query, values("v2"))


def test_an_interval_is_an_interval() -> None:
    with pytest.raises(ValueError, match="no interval of Prometheus"):
        rendered("rate(up[{{ interval }}])", values("v2") | {"interval": "5s]) or vector(1"})


@QUICK
@given(st.text(), st.sampled_from(["up{v=%s}", "sum(up{a='1', v=%s, b=\"2\"}) + up"]), st.sampled_from(["'", '"']))
def test_no_value_breaks_out(value: str, query: str, quote: str) -> None:
    text = rendered(query % f"{quote}{{{{ version }}}}{quote}", values(value))
    found: list[str] = []

    def note(node: object) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            found.extend(each.value for each in node.matchers.matchers if each.name == "v")

    promql_parser.walk(promql_parser.parse(text), note)
    assert found == [value]


def test_the_variables_of_a_query() -> None:
    assert variables_in('a{v="{{ version }}"}[{{interval}}] {{ zone }}') == ("version", "interval", "zone")


COUNTERS = {
    "a counter": (f"m{V}", []),
    "a counter by its label": ('{__name__="m", version="{{ version }}"}', []),
    "two counters together": (f"m{V} + n{V}", []),
    "one or the other": (f"m{V} or n{V}", []),
    "in brackets": (f"((m{V}))", []),
    "a label of another name": (f'label_replace(m{V}, "a", "$1", "b", "(.*)")', []),
    "no PromQL": (f"m{V} )", ["not valid PromQL: "]),
    "an unknown function": (f"roundd(m{V})", ["not valid PromQL: unknown function with name 'roundd'"]),
    "an unknown variable": ('m{version="{{ v }}"}', ["there is no variable {{ v }}"]),
    "both versions alike": ("m", ["it does not say whose numbers it wants: both versions would get the same"]),
    "a rate": (f"rate(m{V}[5m])", ["rate() changes the counter"]),
    "an increase": (f"increase(m{V}[{{{{ interval }}}}])", ["increase() changes the counter"]),
    "a rate of both": (f"rate(m{V}[5m]) + rate(n{V}[5m])", ["rate() changes the counter"]),
    "a sum": (f"sum(m{V})", ["sum() hides a process that began anew"]),
    "a sum of rates": (f"sum(rate(m{V}[1m]))", ["sum() hides", "rate() changes the counter"]),
    "a quotient": (f"m{V} / n{V}", ["what `/` makes is no counter"]),
    "a comparison": (f"m{V} > 5", ["what `>` makes is no counter"]),
    "the past": (f"m{V} offset 5m", ["it asks for the past"]),
    "a moment": (f"m{V} @ 5", ["it asks for the past"]),
    "a window": (f"m{V}[5m]", ["it brings no series of now"]),
    "a number": (f"scalar(m{V})", ["it brings no series of now"]),
    "a constant": ('label_replace(vector(1), "v", "{{ version }}", "", "")', ["it brings no series of now"]),
    "a string": ('"{{ version }}"', ["it brings no series of now"]),
    "endless": (" + ".join([f"m{V}"] * 100), ["it is too long to be checked"]),
    "deep": ("(" * 200 + f"m{V}" + ")" * 200, ["it is too long to be checked"]),
}


@pytest.mark.parametrize(("query", "expected"), COUNTERS.values(), ids=COUNTERS.keys())
def test_can_it_be_a_counter(query: str, expected: list[str]) -> None:
    began = time.process_time()
    found = [each.message for each in faults(query, Wanted.COUNTER)]
    assert len(found) == len(expected), found
    assert all(wanted in message for wanted, message in zip(expected, found, strict=True)), found
    assert time.process_time() - began < 1


BUCKETS = {
    "buckets": (f"m_bucket{V}", []),
    "buckets by their label": ('{__name__="m_bucket", version="{{ version }}"}', []),
    "buckets of some name": ('{__name__=~"m.*", version="{{ version }}"}', ["m.* has no label le"]),
    "a rule's buckets": (f"job:m_bucket:all{V}", []),
    "not the buckets": (f"m_sum{V}", ["m_sum has no label le"]),
    "one bucket": ('m_bucket{version="{{ version }}", le="0.5"}', ["it picks buckets by their edge"]),
    "a quantile": (f"histogram_quantile(0.9, m_bucket{V})", ["histogram_quantile() changes the counter"]),
    "a sum by edge": (f"sum by (le) (m_bucket{V})", ["sum() hides a process"]),
}


@pytest.mark.parametrize(("query", "expected"), BUCKETS.values(), ids=BUCKETS.keys())
def test_can_it_be_buckets(query: str, expected: list[str]) -> None:
    found = [each.message for each in faults(query, Wanted.BUCKETS)]
    assert [wanted in message for wanted, message in zip(expected, found, strict=True)] == [True] * len(expected)


@pytest.mark.parametrize(
    "query",
    [
        f"m{V}",
        f"max(avg_over_time(m{V}[5m:10s])) / 2",
        f"histogram_quantile(0.99, sum by (le) (rate(m_bucket{V}[{{{{ interval }}}}])))",
        f"-m{V}",
        f"sum(rate(a{V}[1m])) / sum(rate(b{V}[1m])) > 0",
    ],
)
def test_a_value_may_be_worked_out(query: str) -> None:
    assert list(faults(query, Wanted.VALUE)) == []


def test_every_query_of_a_shift_is_checked() -> None:
    found = problems(
        f"""\
metrics:
- name: outcomes
- {{name: a, prometheus: {{kind: ratio, bad: 'rate(m{V}[1m])', total: 'm'}}}}
- {{name: b, prometheus: {{kind: histogram, buckets: 'm{V}'}}}}
- {{name: c, prometheus: {{kind: gauge, value: 'vector(', max: 1}}}}
"""
    )
    assert [each.partition(" (")[0] for each in found] == [
        "spec.metrics[2].prometheus.bad: rate() changes the counter",
        "spec.metrics[2].prometheus.total: it does not say whose numbers it wants: both versions would get the same",
        "spec.metrics[3].prometheus.buckets: m has no label le",
        "spec.metrics[4].prometheus.value: not valid PromQL: unclosed left parenthesis",
    ]


def test_a_query_comes_through_as_it_was_written() -> None:
    found = parsed(f"metrics:\n- name: a\n  prometheus: {{kind: ratio, bad: ' m{V}', total: 'n{V}'}}").metrics[0]
    assert found.query.bad == f"m{V}"  # type: ignore[union-attr]
