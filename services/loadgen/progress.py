"""How does a report read as one line for a person?"""

from collections.abc import Mapping
from typing import Any


def progress_line(report: Mapping[str, Any]) -> str:
    """A report of the load as one line.

    Example: "  12.0 s   200 sent   200 ok   0 failed   p50 3.1 ms  p99 9.8 ms   v1 190  v2 10"
    """
    elapsed_s = report.get("elapsedS", report.get("durationS"))
    counts = f"{report['sent']} sent   {report['ok']} ok   {report['failed']} failed"
    latency = f"p50 {_milliseconds(report['p50Ms'])}  p99 {_milliseconds(report['p99Ms'])}"
    versions = "  ".join(f"{name} {tally['n']}" for name, tally in report["versions"].items())
    total = "total   " if report["kind"] == "summary" else ""
    return f"{elapsed_s:6.1f} s   {total}{counts}   {latency}   {versions}".rstrip()


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"
