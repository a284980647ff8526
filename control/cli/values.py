"""Which values do several verbs take? Each refuses in words what it can't be."""

import re
from datetime import timedelta

import click


class NumberType(click.ParamType[float]):
    """A number between two others, both possible. Units: named in `unit`, for the message."""

    name = "number"

    def __init__(self, low: float, high: float, unit: str) -> None:
        self.low, self.high, self.unit = low, high, unit

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a number of {self.unit}", param, ctx)
        if not self.low <= number <= self.high:  # nan is neither
            self.fail(f"{value} is not between {self.low:g} and {self.high:,.0f} {self.unit}", param, ctx)
        return number


class PartType(click.ParamType[float]):
    """A part of requests: 2%, 0.3%, 1/500."""

    name = "part"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from control.spec.quantity import parse_rate

        if isinstance(value, float):
            return value
        try:
            return parse_rate(value)
        except ValueError as impossible:
            return self.fail(str(impossible), param, ctx)


class DurationType(click.ParamType[timedelta]):
    """90s, 5m, 1h30m."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        from control.view.read import span

        if isinstance(value, timedelta):
            return value
        if not re.fullmatch(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", str(value)):
            self.fail(f"{value!r} is not a duration such as 90s, 5m or 1h30m", param, ctx)
        return span(value)


RATE = NumberType(0.001, 1e9, "requests a second")
"""From one in a quarter of an hour to more than any host gets."""
FACTOR = NumberType(0.01, 100, "times as long")
PART, DURATION = PartType(), DurationType()
