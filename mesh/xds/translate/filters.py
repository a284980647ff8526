"""What do a route's own filters do? Faults and CORS policies as the configuration that overrides the filters' own."""

from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.extensions.filters.common.fault import v3 as common_fault
from envoy_data_plane.envoy.extensions.filters.http.cors import v3 as cors_filter
from envoy_data_plane.envoy.extensions.filters.http.fault import v3 as fault_filter
from envoy_data_plane.envoy.type import v3 as envoy_type
from envoy_data_plane.google.protobuf import Any

from mesh.istio.duration import SECOND
from mesh.istio.protocol import GRPC_CODES
from mesh.istio.views_filters import Abort, Cors, Delay, Fault, Percentage
from mesh.istio.views_virtual_service import HttpRoute
from mesh.xds.translate.encode import any_of, make
from mesh.xds.translate.match import string_matcher

FAULT = "envoy.filters.http.fault"
CORS = "envoy.filters.http.cors"
_OF_A_PERCENT = 10_000


def filter_configs(http: HttpRoute) -> dict[str, Any]:
    """The route's configuration of each filter by the filter's name."""
    found = {}
    if http.fault is not None:
        found[FAULT] = any_of(_fault(http.fault))
    if http.cors is not None:
        found[CORS] = any_of(_cors(http.cors))
    return found


def fraction(share: Percentage) -> envoy_type.FractionalPercent:
    """A percentage in millionths (what is smaller is dropped); an old integer in hundredths.

    Example: fraction(Percentage(0.5)) is 5000 of a million
    """
    if share.whole:
        return make(envoy_type.FractionalPercent, numerator=int(share.value))
    return make(
        envoy_type.FractionalPercent,
        numerator=int(share.value * _OF_A_PERCENT),
        denominator=envoy_type.FractionalPercentDenominatorType.MILLION,
    )


def _fault(fault: Fault) -> fault_filter.HttpFault:
    made = make(fault_filter.HttpFault)
    if fault.delay is not None:
        made.delay = _delay(fault.delay)
    if fault.abort is not None:
        made.abort = _abort(fault.abort)
    return made


def _delay(delay: Delay) -> common_fault.FaultDelay:
    return make(common_fault.FaultDelay, percentage=fraction(delay.percentage), fixed_delay=delay.fixed)


def _abort(abort: Abort) -> fault_filter.FaultAbort:
    made = make(fault_filter.FaultAbort)
    if abort.percentage is not None:
        made.percentage = fraction(abort.percentage)
    if abort.grpc_status is not None:
        made.grpc_status = GRPC_CODES[abort.grpc_status]
    else:
        made.http_status = abort.http_status
    return made


def _cors(cors: Cors) -> cors_filter.CorsPolicy:
    return make(
        cors_filter.CorsPolicy,
        allow_origin_string_match=[string_matcher(origin) for origin in cors.origins],
        allow_methods=",".join(cors.methods),
        allow_headers=",".join(cors.headers),
        expose_headers=",".join(cors.expose),
        max_age="" if cors.max_age is None else str(cors.max_age // SECOND),
        allow_credentials=cors.credentials,
        filter_enabled=make(
            core.RuntimeFractionalPercent, default_value=make(envoy_type.FractionalPercent, numerator=100)
        ),
        forward_not_matching_preflights=cors.forward_unmatched,
    )
