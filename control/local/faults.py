"""Which faults can a demo give to the versions? Names for people, knobs for the service, and what should be seen."""

from dataclasses import dataclass
from fractions import Fraction

from control.local.layout import VERSIONS

ServiceFaults = tuple[tuple[str, str], ...]
"""Version and text of its `--fault`, as `control.local.children.Options` takes them."""


@dataclass(frozen=True, slots=True)
class DemoFault:
    """`knob` is the translator's own `--fault` text, `seen` what a person should expect of it."""

    knob: str
    seen: str


FAULTS: dict[str, DemoFault] = {
    "errors": DemoFault(
        "errors:0.3:UNAVAILABLE",
        "30 % of its tries answer UNAVAILABLE: retries hide it from callers, attempts show it",
    ),
    "internal": DemoFault("internal:0.2", "20 % of its answers are INTERNAL (HTTP 200, gRPC 13): outcomes show it"),
    "slow": DemoFault("delay:400ms", "every answer is 400 ms late: latency shows it"),
    "tail": DemoFault(
        "delay:800ms:15%", "15 % of its answers are 800 ms late, the median is as ever: latency shows it"
    ),
    "retries": DemoFault(
        "errors:0.3:UNAVAILABLE:first=1",
        "30 % of first tries answer UNAVAILABLE, second ones never: no caller sees it, attempts show it",
    ),
    "crash": DemoFault("crash:after=4s", "it dies over and over"),
    "hang": DemoFault(
        "delay:30s:0.3",
        "30 % of its tries keep their callers waiting until they give up (10 s), which is all that shows",
    ),
    "heals": DemoFault(
        "internal:0.04:for=20s",
        "4 % INTERNAL in the first 20 s of its traffic, then none: warming up, so it is promoted",
    ),
}


def translator_faults(kind: str | None, version: str = VERSIONS[1]) -> ServiceFaults:
    """A kind of fault for one version; nothing for none."""
    return ((version, FAULTS[kind].knob),) if kind else ()


def failing_alike(share: Fraction | None) -> ServiceFaults:
    """Every version fails this share of its requests with INTERNAL: neither is the worse one."""
    return tuple((version, f"internal:{float(share):.9f}") for version in VERSIONS) if share else ()
