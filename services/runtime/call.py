"""What does a process know about the call that it is serving right now?

One `Call` a request, in a context variable: the attempt that the mesh counted, the moment the caller gives up, and the
facts that the servicer adds to the request's one log line.
"""

import re
import time
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

ATTEMPT_HEADER = "x-envoy-attempt-count"
FAULT_HEADER = "tidegate-fault"
SERVED_BY_TRAILER = "tidegate-served-by"
ATTEMPT_TRAILER = "tidegate-attempt-count"
REQUEST_ID_HEADER = "x-request-id"

_COUNTS = re.compile(r"[0-9, ]{1,64}")
_current: ContextVar["Call | None"] = ContextVar("tidegate_call", default=None)


@dataclass(slots=True)
class Call:
    """One request being served.

    `attempt_text` is the header as received ("" when there was none or it holds anything but counts, for it is sent
    back). `deadline` is on the monotonic clock.
    """

    method: str
    attempt_text: str
    request_id: str
    deadline: float | None
    started: float
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def attempt(self) -> int:
        """1-based number of this try; 1 when the mesh did not count."""
        last = self.attempt_text.rpartition(",")[2].strip()
        return max(1, int(last)) if last.isascii() and last.isdigit() else 1

    def remaining_s(self) -> float | None:
        """Seconds until the caller gives up; None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


def begin_call(method: str, metadata: Iterable[tuple[str, Any]], remaining_s: float | None) -> Call:
    """The call as its metadata and deadline describe it; from here on it is the current one of this task."""
    headers = {str(key): value for key, value in metadata}
    now = time.monotonic()
    attempt_text = str(headers.get(ATTEMPT_HEADER, ""))
    call = Call(
        method=method,
        attempt_text=attempt_text if _COUNTS.fullmatch(attempt_text) else "",
        request_id=str(headers.get(REQUEST_ID_HEADER, "")),
        deadline=None if remaining_s is None else now + remaining_s,
        started=now,
    )
    _current.set(call)
    return call


def current_call() -> Call | None:
    """The call that this task serves, or None outside of one."""
    return _current.get()


def annotate(**facts: Any) -> None:
    """Adds facts to the current request's log line."""
    call = _current.get()
    if call is not None:
        call.facts.update(facts)
