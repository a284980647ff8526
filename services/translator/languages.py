"""Which languages can a process be asked for, and which words do callers use for them?

Tags are BCP-47. A tag is looked up as RFC 4647 says: the longest known prefix wins, so `es-MX` is `es` and `pt-BR` is
itself where a variety of its own exists. Three-letter codes are accepted for two-letter ones.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

UNDETERMINED = "und"
_TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")

NAMES = {
    "ca": "Catalan",
    "ca-valencia": "Catalan (Valencian)",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "gl": "Galician",
    "it": "Italian",
    "pt": "Portuguese",
    "pt-BR": "Portuguese (Brazil)",
}
_BY_FOLDED = {code.casefold(): code for code in NAMES}
_ALIASES = {
    "cat": "ca", "eng": "en", "fra": "fr", "fre": "fr", "glg": "gl", "ita": "it", "por": "pt", "spa": "es",
}  # fmt: skip


class LanguageSet(StrEnum):
    """What a version offers: `base` is en and fr with es; `extended` adds pt, ca, it, gl and pivot chains."""

    BASE = "base"
    EXTENDED = "extended"


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """A direction of translation, in canonical tags."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


def canonical_tag(tag: str) -> str | None:
    """The known language that `tag` means, or None when it means none.

    Example: canonical_tag("ES_mx") == "es"; canonical_tag("pt-br") == "pt-BR"; canonical_tag("xx") is None
    """
    if not _TAG.fullmatch(tag):
        return None
    parts = tag.replace("_", "-").casefold().split("-")
    parts[0] = _ALIASES.get(parts[0], parts[0])
    for length in range(len(parts), 0, -1):
        known = _BY_FOLDED.get("-".join(parts[:length]))
        if known:
            return known
    return None
