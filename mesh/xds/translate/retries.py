"""When is a try repeated? Silence is Istio's default policy, an empty block or 0 attempts is none at all."""

from http import HTTPStatus

from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.extensions.retry.host.previous_hosts import v3 as previous_hosts
from envoy_data_plane.envoy.extensions.retry.priority.previous_priorities import v3 as previous_priorities

from mesh.istio.views_virtual_service import Retries
from mesh.xds.translate.encode import any_of, make

DEFAULT_RETRIES = 2
DEFAULT_RETRY_ON = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes"
_BY_STATUS = "retriable-status-codes"
_CODES = frozenset(int(status) for status in HTTPStatus)
_HOST_SELECTION_ATTEMPTS = 5
_UPDATE_FREQUENCY = 2


def retry_policy(retries: Retries | None, *, sticky: bool = False) -> route.RetryPolicy | None:
    """The policy of an outbound or gateway route, or None when retries are switched off. A `sticky` route, which
    chooses its endpoint by hash, tries the same endpoint again unless the document says otherwise.
    """
    if retries is None:
        return _policy(DEFAULT_RETRIES, DEFAULT_RETRY_ON, [], elsewhere=not sticky)
    if retries.attempts <= 0:
        return None
    conditions, codes = retry_on(retries.retry_on)
    said = retries.ignore_previous_hosts
    policy = _policy(retries.attempts, conditions, codes, elsewhere=not sticky if said is None else said)
    policy.per_try_timeout = retries.per_try_timeout
    if retries.remote_localities:
        policy.retry_priority = _previous_priorities()
    if retries.backoff is not None:
        policy.retry_back_off = make(route.RetryPolicyRetryBackOff, base_interval=retries.backoff)
    return policy


def inbound_retry_policy() -> route.RetryPolicy:
    """What an Envoy does for its own application on a port that isn't gRPC: only requests that it never saw."""
    return make(route.RetryPolicy, retry_on="reset-before-request", num_retries=2)


def retry_on(text: str) -> tuple[str, list[int]]:
    """Conditions and HTTP codes of a `retryOn`; codes ask for the condition that reads them. Without any other
    condition it stands behind a comma: so istiod has it, and Envoy takes it.

    Example: retry_on("5xx,503") == ("5xx,retriable-status-codes", [503])
    """
    if not text:
        return DEFAULT_RETRY_ON, []
    words = [word.strip() for word in text.split(",") if word.strip()]
    codes = [int(word) for word in words if is_code(word)]
    conditions = [word for word in words if not is_code(word)]
    joined = ",".join(conditions)
    return (f"{joined},{_BY_STATUS}" if codes and _BY_STATUS not in joined else joined), codes


def is_code(word: str) -> bool:
    """Is this an HTTP status code?"""
    return word.isdecimal() and int(word) in _CODES


def _policy(attempts: int, conditions: str, codes: list[int], *, elsewhere: bool) -> route.RetryPolicy:
    return make(
        route.RetryPolicy,
        retry_on=conditions,
        num_retries=attempts,
        retriable_status_codes=codes,
        host_selection_retry_max_attempts=_HOST_SELECTION_ATTEMPTS,
        retry_host_predicate=[_previous_hosts()] if elsewhere else [],
    )


def _previous_hosts() -> route.RetryPolicyRetryHostPredicate:
    return make(
        route.RetryPolicyRetryHostPredicate,
        name="envoy.retry_host_predicates.previous_hosts",
        typed_config=any_of(make(previous_hosts.PreviousHostsPredicate)),
    )


def _previous_priorities() -> route.RetryPolicyRetryPriority:
    config = make(previous_priorities.PreviousPrioritiesConfig, update_frequency=_UPDATE_FREQUENCY)
    return make(
        route.RetryPolicyRetryPriority, name="envoy.retry_priorities.previous_priorities", typed_config=any_of(config)
    )
