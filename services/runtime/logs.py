"""What does a service process write about itself?

JSON lines on stderr. One canonical line a request at debug, or at warning when the service itself was at fault; nothing
else is written per request.
"""

import logging
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


class LogLevel(StrEnum):
    """The least important line that is still written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def open_log(level: LogLevel, **always: Any) -> "FilteringBoundLogger":
    """A logger whose every line carries `always`."""
    import structlog

    return structlog.wrap_logger(  # type: ignore[no-any-return]
        structlog.WriteLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(sort_keys=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        context_class=dict,
    ).bind(**always)
