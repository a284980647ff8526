"""What exactly does a request ask for, and is it something that this process offers?

All mistakes of a request come back together. The language codes of the answer are canonical; a region that has no
variety of its own falls back to its language.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.runtime.errors import FieldViolation, bad_request
from services.runtime.texts import request_violations
from services.translator.languages import Pair, canonical_tag


@dataclass(frozen=True, slots=True)
class Wanted:
    """A checked request. `source` is None when it has to be detected for each text."""

    texts: tuple[str, ...]
    source: str | None
    target: str
    domain: str


@dataclass(frozen=True, slots=True)
class Offer:
    """The pairs that this process serves."""

    pairs: Collection[Pair]

    def pair(self, source: str, target: str) -> Pair | None:
        """The pair that serves this direction, by the source's own language if its variety has none."""
        candidates = (Pair(source, target), Pair(source.partition("-")[0], target))
        return next((pair for pair in candidates if pair in self.pairs), None)

    def sources_of(self, target: str) -> tuple[str, ...]:
        """The languages from which `target` can be reached."""
        return tuple(sorted(pair.source for pair in self.pairs if pair.target == target))

    def languages(self) -> frozenset[str]:
        """Every language on either side of a pair."""
        return frozenset(code for pair in self.pairs for code in (pair.source, pair.target))

    def listed(self) -> str:
        """The pairs as a person reads them."""
        return ", ".join(map(str, sorted(self.pairs)))


def checked(
    texts: Sequence[str],
    mime_type: str,
    source: str,
    target: str,
    domain: str,
    *,
    offer: Offer,
    field: str = "contents",
) -> Wanted:
    """The request, if it can be served.

    Raises: CallError INVALID_ARGUMENT with every mistake.
    """
    violations = request_violations(texts, mime_type, field=field)
    known_target = _language(target, "target_language_code", offer, violations, required=True)
    known_source = _language(source, "source_language_code", offer, violations, required=False)
    if known_source and known_target and known_source != known_target and not offer.pair(known_source, known_target):
        message = f"{known_source} to {known_target} is not offered by this version (offered: {offer.listed()})"
        violations.append(FieldViolation("target_language_code", message))
    if violations:
        raise bad_request(*violations)
    return Wanted(tuple(texts), known_source or None, known_target, domain)


def _language(tag: str, field: str, offer: Offer, violations: list[FieldViolation], *, required: bool) -> str:
    """The canonical code; "" when there is none, with a violation unless that is allowed."""
    if not tag:
        if required:
            violations.append(FieldViolation(field, "is required"))
        return ""
    code = canonical_tag(tag)
    for candidate in (code, code.partition("-")[0] if code else None):
        if candidate in offer.languages():
            return str(candidate)
    offered = ", ".join(sorted(offer.languages()))
    violations.append(FieldViolation(field, f"{tag!r} is not a language of this version (offered: {offered})"))
    return ""
