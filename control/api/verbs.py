"""Which number of the protocol stands for which verb? The names agree: VERB_PROMOTE_FULL is Verb.PROMOTE_FULL."""

from tidegate.control.v1 import control_pb2

from control.engine.command import Verb
from control.errors import Refused


def verb_to_wire(verb: Verb) -> int:
    """The number that ControlService has for a verb."""
    return control_pb2.Verb.Value(f"VERB_{verb.name}")


def verb_from_wire(number: int) -> Verb:
    """Raises Refused for a verb that this controller doesn't know (0, or one of a newer tool)."""
    try:
        return Verb[control_pb2.Verb.Name(number).removeprefix("VERB_")]
    except (KeyError, ValueError):
        known = ", ".join(verb.value for verb in Verb)
        raise Refused(f"verb {number} is not known to this controller", hint=f"known are: {known}") from None
