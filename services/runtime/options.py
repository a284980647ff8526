"""Which options does every service process share?

`service_options` is a decorator for a click command; the command receives one `ServiceOptions` as `service`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import click

from services.runtime.address import Address, TcpAddress, parse_address
from services.runtime.faults import Fault, FaultError, parse_faults
from services.runtime.logs import LogLevel

R = TypeVar("R")
ANY_PORT = TcpAddress("127.0.0.1", 0)


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """How one service process is run.

    `drain_delay`: how long it still takes calls after it called itself NOT_SERVING. `grace`: how long running calls may
    go on after that. `max_in_flight`: calls beyond it are answered RESOURCE_EXHAUSTED.
    """

    listen: Address = ANY_PORT
    metrics: TcpAddress | None = None
    version_label: str = "dev"
    allow_faults: bool = False
    faults: tuple[Fault, ...] = ()
    log_level: LogLevel = LogLevel.INFO
    drain_delay: timedelta = timedelta(milliseconds=300)
    grace: timedelta = timedelta(seconds=10)
    max_in_flight: int = 1_000


class AddressType(click.ParamType[Any]):
    """`HOST:PORT` or `unix:PATH`."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The parsed address."""
        try:
            return parse_address(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class FaultType(click.ParamType[Any]):
    """One or more faults in the grammar of `services.runtime.faults`."""

    name = "fault"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The parsed faults."""
        try:
            return tuple(parse_faults(value)) if isinstance(value, str) else value
        except FaultError as error:
            self.fail(str(error), param, ctx)


_OPTIONS = (
    click.option(
        "--listen", type=AddressType(), default="127.0.0.1:0", show_default=True, help="HOST:PORT or unix:PATH."
    ),
    click.option(
        "--metrics", type=AddressType(), default=None, help="HOST:PORT of the Prometheus endpoint; none without."
    ),
    click.option("--version-label", default="dev", show_default=True, help="Sent with every answer."),
    click.option("--allow-faults", is_flag=True, help="Permit failures on purpose (tests and demos only)."),
    click.option(
        "--fault", "faults", type=FaultType(), multiple=True, help="Fail on purpose, e.g. errors:0.3:UNAVAILABLE."
    ),
    click.option(
        "--log-level",
        type=click.Choice([level.value for level in LogLevel]),
        default=LogLevel.INFO.value,
        show_default=True,
    ),
    click.option("--drain-delay", type=click.FloatRange(0, 60), default=0.3, show_default=True, help="Seconds."),
    click.option("--grace", type=click.FloatRange(0, 600), default=10.0, show_default=True, help="Seconds."),
    click.option("--max-in-flight", type=click.IntRange(1), default=1_000, show_default=True),
)


def service_options(command: Callable[..., R]) -> Callable[..., R]:
    """Adds the shared options; the command gets them as `service: ServiceOptions`."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> R:
        shared = {name: given.pop(name) for name in _SHARED}
        return command(service=_options(**shared), **given)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


_SHARED = tuple(ServiceOptions.__dataclass_fields__)


def _options(
    *, faults: tuple[tuple[Fault, ...], ...], allow_faults: bool, metrics: Address | None, **given: Any
) -> ServiceOptions:
    if faults and not allow_faults:
        raise click.UsageError("--fault is refused without --allow-faults")
    if metrics is not None and not isinstance(metrics, TcpAddress):
        raise click.UsageError("--metrics takes HOST:PORT")
    seconds: dict[str, Any] = {n: timedelta(seconds=given.pop(n)) for n in ("drain_delay", "grace")}
    return ServiceOptions(
        faults=tuple(fault for group in faults for fault in group),
        allow_faults=allow_faults,
        metrics=metrics,
        log_level=LogLevel(given.pop("log_level")),
        **seconds,
        **given,
    )
