"""What did Prometheus answer? Its JSON as series of samples; whatever is no such answer is refused. Pure.

Format: https://prometheus.io/docs/prometheus/latest/querying/api/ (instant queries: matrix, vector, scalar).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Labels = Mapping[str, str]
Sample = tuple[int, float]
"""When it was scraped, in milliseconds since 1970, and the value."""


@dataclass(frozen=True, slots=True)
class Series:
    """One set of labels (the metric's name is `__name__`), and its samples, oldest first."""

    labels: Labels
    samples: tuple[Sample, ...]

    @property
    def last(self) -> Sample:
        return self.samples[-1]


class QueryRefused(Exception):
    """Prometheus understood us and says that the query is wrong: another one must be asked."""


class NoAnswer(Exception):
    """What came is no whole answer: the question may be asked again later."""


def series_of(text: bytes | str) -> tuple[Series, ...]:
    """The series of an answer; those without samples are left out. Raises QueryRefused, NoAnswer."""
    try:
        body = json.loads(text)
        if body["status"] == "error":
            raise _refused(body)
        if warnings := body.get("warnings"):
            raise NoAnswer(f"it warns that its answer is not whole: {warnings[0]}")
        return _result(body["data"])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise NoAnswer("what it answers is not what a Prometheus answers") from error


def _refused(body: Mapping[str, Any]) -> Exception:
    message = str(body.get("error", "no reason given"))
    return QueryRefused(message) if body.get("errorType") in ("bad_data", "execution") else NoAnswer(message)


def _result(data: Mapping[str, Any]) -> tuple[Series, ...]:
    result = data["result"]
    match data["resultType"]:
        case "matrix":
            found = [Series(each["metric"], tuple(map(_sample, each.get("values", ())))) for each in result]
        case "vector":
            found = [Series(each["metric"], (_sample(each["value"]),)) for each in result if "value" in each]
        case "scalar":
            found = [Series({}, (_sample(result),))]
        case other:
            raise QueryRefused(f"the query gives a {other}, not numbers")
    return tuple(each for each in found if each.samples)


def _sample(pair: tuple[float, str]) -> Sample:
    return round(pair[0] * 1000), float(pair[1])
