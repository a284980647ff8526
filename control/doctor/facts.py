"""What was found out about the world around the controller. None: it could not be asked, and `trouble` says why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from control.engine.observation import Observation
from mesh.istio.lint import Level as LintLevel


@dataclass(frozen=True, slots=True)
class Kind:
    """The custom resource as the API server has it: `fields` of its spec, those that this tool knows in `known`."""

    installed: bool | None = None
    fields: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Rights:
    """What somebody may do, by a short name of it ("patch virtualservices")."""

    allowed: Mapping[str, bool] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who leads. Units: seconds since it was renewed, and that it lasts."""

    holder: str = ""
    age_s: float = 0.0
    lasts_s: float = 0.0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Istiod:
    """One replica: how many proxies it sends routes to, None when it can't be asked."""

    address: str
    proxies: int | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Scraped:
    """A Prometheus. `labels` are those of Istio's request counter, empty when there is no such series.

    Units: `interval_s` is the time between two scrapes as its samples show it, `age_s` how old the newest is by our
    clock (below 0: the clocks differ); None when there is no sample.
    """

    url: str = ""
    labels: frozenset[str] = frozenset()
    interval_s: float | None = None
    age_s: float | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """Something that a laptop must have: where it is, or nothing."""

    name: str
    path: str
    hint: str


@dataclass(frozen=True, slots=True)
class Around:
    """A cluster, or a laptop: what does not belong to it is None. `policies`: which are in force, None where that may
    not be looked at. `trouble` is why shifts could not be read.
    """

    kind: Kind | None = None
    yours: Rights | None = None
    controllers: Rights | None = None
    policies: Mapping[str, bool | None] | None = None
    lease: Lease | None = None
    istiods: tuple[Istiod, ...] | None = None
    prometheus: Scraped = Scraped()
    programs: tuple[Program, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Linted:
    """A finding of lint about one of the documents that a shift goes by."""

    code: str
    sentence: str
    level: LintLevel


@dataclass(frozen=True, slots=True)
class OfShift:
    """One shift: what a look at it sees from here. `needs_prometheus`: its requests are counted there. Units: `poll_s`.
    `linted` is None when its documents could not be read, `trouble` why nothing could be looked at.
    """

    name: str
    seen: Observation | None = None
    poll_s: float = 5.0
    needs_prometheus: bool = False
    versions: tuple[str, str] = ("", "")
    linted: tuple[Linted, ...] | None = None
    trouble: str = ""
