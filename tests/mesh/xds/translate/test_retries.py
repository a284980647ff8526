"""When is a try repeated?"""

from typing import Any

import pytest

from mesh.xds.translate.retries import retry_on
from tests.support.xlate_documents import route_of

DEFAULT = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes"
PREVIOUS_HOSTS = [
    {
        "name": "envoy.retry_host_predicates.previous_hosts",
        "typedConfig": {
            "@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
        },
    }
]


def policy(**changes: Any) -> dict[str, Any]:
    base = {
        "retryOn": DEFAULT,
        "numRetries": 2,
        "retryHostPredicate": PREVIOUS_HOSTS,
        "hostSelectionRetryMaxAttempts": "5",
    }
    return {name: value for name, value in (base | changes).items() if value is not None}


@pytest.mark.parametrize(
    ("retries", "expected"),
    [
        pytest.param("absent", policy(), id="silence: Istio's default"),
        pytest.param({}, None, id="an empty block: none"),
        pytest.param({"attempts": 0}, None, id="0: none"),
        pytest.param({"attempts": 4}, policy(numRetries=4), id="n"),
        pytest.param({"attempts": 1, "retryOn": "5xx"}, policy(numRetries=1, retryOn="5xx"), id="own conditions"),
        pytest.param(
            {"attempts": 1, "retryOn": "5xx,503"},
            policy(numRetries=1, retryOn="5xx,retriable-status-codes", retriableStatusCodes=[503]),
            id="a code asks for its condition",
        ),
        pytest.param(
            {"attempts": 1, "perTryTimeout": "250ms"},
            policy(numRetries=1, perTryTimeout="0.250s"),
            id="time for each try",
        ),
        pytest.param(
            {"attempts": 1, "backoff": "1s"}, policy(numRetries=1, retryBackOff={"baseInterval": "1s"}), id="backoff"
        ),
        pytest.param(
            {"attempts": 1, "retryIgnorePreviousHosts": False},
            policy(numRetries=1, retryHostPredicate=None),
            id="previous hosts too",
        ),
        pytest.param(
            {"attempts": 1, "retryIgnorePreviousHosts": True}, policy(numRetries=1), id="other hosts, said aloud"
        ),
        pytest.param({"attempts": 1, "retryRemoteLocalities": False}, policy(numRetries=1), id="own locality"),
    ],
)
def test_policies(retries: Any, expected: Any) -> None:
    found = route_of(**({} if retries == "absent" else {"retries": retries}))
    assert found["route"].get("retryPolicy") == expected


def test_remote_localities() -> None:
    priority = route_of(retries={"attempts": 1, "retryRemoteLocalities": True})["route"]["retryPolicy"]["retryPriority"]
    assert priority["name"] == "envoy.retry_priorities.previous_priorities"
    assert priority["typedConfig"]["updateFrequency"] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", (DEFAULT, []), id="nothing said"),
        pytest.param("reset,unavailable", ("reset,unavailable", []), id="words"),
        pytest.param("503", (",retriable-status-codes", [503]), id="a code alone: behind a comma"),
        pytest.param(
            "503,retriable-status-codes,429", ("retriable-status-codes", [503, 429]), id="the condition is there"
        ),
        pytest.param("599", ("599", []), id="a number that is no status stays a word"),
    ],
)
def test_conditions_and_codes(text: str, expected: Any) -> None:
    assert retry_on(text) == expected
