"""How is a number worded? The one place where shares, counts and times turn into text."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from math import floor, log10

UNKNOWN = "unknown"
NOTHING_SEEN = "none seen"
MOST_ODDS = 1_000_000


def percent(ratio: Fraction | float | None) -> str:
    """A ratio of 0 to 1 as a percentage that never rounds something to nothing nor nearly all to all.

    Example: 1/20 is "5 %", 0.0497 is "4.97 %", 0.99999 is ">99.9 %", 1/1000000 is "0.0001 %", None is "unknown".
    """
    if ratio is None:
        return UNKNOWN
    value = float(ratio * 100)
    if 0 < value < 0.01:
        return f"{value:.{1 - floor(log10(value))}f}".rstrip("0") + " %"
    text = f"{value:.{1 if value >= 10 else 2}f}".rstrip("0").rstrip(".")
    return ">99.9 %" if text == "100" and ratio < 1 else f"{text} %"


def signed(ratio: float) -> str:
    """A difference of two ratios, to a thousandth of a percent. Example: 0.0021 is "+0.21 %", -0.03 is "-3 %"."""
    value = round(ratio, 5)
    return ("+" if value > 0 else "-" if value < 0 else "") + percent(abs(value))


def difference(estimate: float | None, low: float, high: float) -> str:
    """Example: "+0.03 % (-0.31 % to +0.21 %)"; empty while nothing was compared."""
    return "" if estimate is None else f"{signed(estimate)} ({signed(low)} to {signed(high)})"


def margin(ratio: float, extra: float) -> str:
    """Example: (1.1, 0.0005) is "1.1 x stable + 0.05 %", (1.0, 0.005) is "stable + 0.5 %"."""
    times = "stable" if ratio == 1 else f"{ratio:.3g} x stable"
    return f"{times} + {percent(extra)}" if extra else times


def odds(ratio: float | None) -> str:
    """Evidence as people bet. Example: 212.4 is "212 : 1", 0.25 is "1 : 4", 1e9 is "over 1,000,000 : 1", None is
    "unknown".
    """
    match ratio:
        case None:
            return UNKNOWN
        case _ if ratio <= 0:
            return "none"
        case _ if ratio < 1:
            return f"1 : {_odd(1 / ratio)}"
        case _:
            return f"{_odd(ratio)} : 1"


def _odd(ratio: float) -> str:
    if ratio > MOST_ODDS:
        return f"over {MOST_ODDS:,}"
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.2g}"


def count(number: int) -> str:
    """Example: 12345 is "12,345"."""
    return f"{number:,}"


def amount(number: float) -> str:
    """A number of failed requests. Example: 12.34 is "12.3", 50.0 is "50", 1234.5 is "1,234", -0.02 is "0"."""
    value = round(number, 1) or 0.0
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.1f}"


def amount_of(number: float, noun: str) -> str:
    """Example: (1.0, "failed request") is "1 failed request", (4.6, "failed request") is "4.6 failed requests"."""
    text = amount(number)
    return f"{text} {noun if text == '1' else noun + 's'}"


def per_second(rate: float) -> str:
    """Example: 1.0 is "1 request a second", 0.5 is "0.5 requests a second"."""
    return f"{rate:,g} request{'' if rate == 1 else 's'} a second"


def plural(number: int, noun: str, many: str = "") -> str:
    """Example: (1, "step") is "1 step", (1200, "step") is "1,200 steps", (2, "proxy", "proxies") is "2 proxies"."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def milliseconds(value: float | None) -> str:
    """Example: 3.21 is "3.2 ms", 48.3 is "48 ms", 1234.0 is "1.23 s"."""
    match value:
        case None:
            return UNKNOWN
        case _ if value < 9.95:
            return f"{value:.1f} ms"
        case _ if value < 999.5:
            return f"{value:.0f} ms"
        case _:
            return f"{value / 1000:.2f} s"


def duration(span: timedelta) -> str:
    """The two largest units of a span. Example: "0.8 s", "12 s", "1 min 05 s", "2 h 03 min", "3 d 4 h"."""
    seconds = max(0.0, span.total_seconds())
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes == 0:
        return f"{whole} s"
    if hours == 0:
        return f"{minutes} min {whole % 60:02d} s"
    if days == 0:
        return f"{hours} h {minutes % 60:02d} min"
    return f"{days} d {hours % 24} h"


def relative(moment: datetime | None, now: datetime) -> str:
    """Example: "12 s ago", "just now", "in 5 s", "unknown"."""
    if moment is None:
        return UNKNOWN
    if abs(now - moment) < timedelta(seconds=1):
        return "just now"
    return f"{duration(now - moment)} ago" if moment < now else f"in {duration(moment - now)}"


def clock(moment: datetime | None) -> str:
    """The time of day, UTC. Example: "12:03:59"."""
    return UNKNOWN if moment is None else moment.strftime("%H:%M:%S")


def part_of(bad: int, total: int) -> str:
    """Example: (3, 1204) is "3 of 1,204 (0.25 %)", (0, 0) is "none seen"."""
    if total == 0:
        return NOTHING_SEEN
    return f"{count(bad)} of {count(total)} ({percent(bad / total)})"


def rate_of(bad: int, total: int) -> str:
    """Example: (3, 1204) is "0.25 % of 1,204", (0, 0) is "none seen"."""
    return f"{percent(bad / total)} of {count(total)}" if total else NOTHING_SEEN


def resample(values: Sequence[float], width: int) -> tuple[float, ...]:
    """At most `width` values that keep the last one: what a sparkline of that many cells draws."""
    if len(values) <= width:
        return tuple(values)
    return tuple(values[(i + 1) * len(values) // width - 1] for i in range(width))
