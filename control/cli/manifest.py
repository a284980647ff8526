"""Which shift does a person's file ask for? Or all of its mistakes, with the lines at hand to show them."""

from control.cli.failure import BadText
from control.errors import SpecError
from control.spec import TrafficShift, parse_shift


def parsed(text: bytes, source: str) -> TrafficShift:
    """Raises BadText with every mistake."""
    try:
        return parse_shift(text, source)
    except SpecError as mistakes:
        raise BadText(mistakes.problems, {source: text}) from None
