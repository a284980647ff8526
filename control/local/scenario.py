"""What does a demo show? Which version fails how, and by which shift traffic moves or is only watched."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from control.local.faults import FAULTS, ServiceFaults, failing_alike, translator_faults
from control.local.manifests import SHIFT
from control.spec import Mode, TrafficShift, parse_shift, to_document
from control.spec.quantity import share_text

BY_HAND = Fraction(1, 5)
"""The canary's share beside an observing shift: enough traffic to decide by, as somebody else gave it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """`fault` is a kind of `FAULTS` for the canary, `both_fail` a share of requests that both versions fail. `observe`:
    the shift writes nothing, beside a split that somebody else made.
    """

    fault: str | None = None
    both_fail: Fraction | None = None
    observe: bool = False
    file: Path = SHIFT

    @property
    def faults(self) -> ServiceFaults:
        return (*translator_faults(self.fault), *failing_alike(self.both_fail))

    @property
    def shift(self) -> TrafficShift:
        """The shift as its file has it. Raises SpecError, and OSError when there is no such file."""
        shift = parse_shift(self.file.read_bytes(), self.file.name)
        return replace(shift, mode=Mode.OBSERVE) if self.observe else shift

    @property
    def text(self) -> bytes:
        """What is applied: the file as it stands, or the same shift observing."""
        return json.dumps(to_document(self.shift)).encode() if self.observe else self.file.read_bytes()

    def told(self) -> Iterator[str]:
        """What a person is told before it begins."""
        if self.fault:
            yield f"v2 is given a fault: {FAULTS[self.fault].seen}"
        if self.both_fail:
            yield f"both versions fail {share_text(self.both_fail)} of their requests alike: neither is to blame"
        if self.observe:
            yield f"the documents give v2 {share_text(BY_HAND)} by hand; the shift only observes"
