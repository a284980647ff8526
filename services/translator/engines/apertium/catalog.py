"""Which pairs can Apertium serve here, by which modes, and what must be installed for that?

One table of direct modes. A pivot chain goes by way of Spanish, the hub of Apertium's Romance pairs, and only where no
direct mode exists.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.translator.engines.apertium.modes import MODES_DIR
from services.translator.engines.engine import EngineMissingError, Route
from services.translator.languages import LanguageSet, Pair

HUB = "es"
TOOLS = ("lt-proc", "apertium-tagger", "lrx-proc", "cg-proc")
TOOL_PACKAGES = ("apertium", "lttoolbox", "apertium-lex-tools", "cg3")


@dataclass(frozen=True, slots=True)
class DirectMode:
    """A pair that one mode serves, and the Debian package that holds it."""

    pair: Pair
    mode: str
    package: str


def _both_ways(source: str, target: str, modes: tuple[str, str], package: str) -> tuple[DirectMode, DirectMode]:
    there, back = modes
    return (
        DirectMode(Pair(source, target), there, package),
        DirectMode(Pair(target, source), back, package),
    )


BASE = (
    *_both_ways("en", "es", ("eng-spa", "spa-eng"), "apertium-eng-spa"),
    *_both_ways("fr", "es", ("fr-es", "es-fr"), "apertium-fr-es"),
)
EXTENDED = (
    *BASE,
    *_both_ways("es", "pt", ("es-pt", "pt-es"), "apertium-es-pt"),
    DirectMode(Pair("es", "pt-BR"), "es-pt_BR", "apertium-es-pt"),
    *_both_ways("es", "ca", ("spa-cat", "cat-spa"), "apertium-spa-cat"),
    DirectMode(Pair("es", "ca-valencia"), "spa-cat_valencia", "apertium-spa-cat"),
    *_both_ways("es", "it", ("spa-ita", "ita-spa"), "apertium-spa-ita"),
    *_both_ways("es", "gl", ("es-gl", "gl-es"), "apertium-es-gl"),
    *_both_ways("en", "gl", ("en-gl", "gl-en"), "apertium-en-gl"),
)


@dataclass(frozen=True, slots=True)
class Chain:
    """The modes that serve a pair, one after the other."""

    route: Route
    modes: tuple[str, ...]


def chains(languages: LanguageSet) -> Mapping[Pair, Chain]:
    """How each pair of the set is served. The base set has direct pairs only."""
    direct = {mode.pair: mode.mode for mode in _modes(languages)}
    served = {pair: Chain(Route(pair), (mode,)) for pair, mode in direct.items()}
    if languages is LanguageSet.EXTENDED:
        served |= {pair: chain for pair, chain in _pivots(direct).items() if pair not in direct}
    return served


def _pivots(direct: Mapping[Pair, str]) -> dict[Pair, Chain]:
    into = [pair for pair in direct if pair.target == HUB]
    out_of = [pair for pair in direct if pair.source == HUB]
    return {
        pair: Chain(Route(pair, via=(HUB,)), (direct[first], direct[second]))
        for first in into
        for second in out_of
        if first.source != second.target.partition("-")[0]
        for pair in [Pair(first.source, second.target)]
    }


def _modes(languages: LanguageSet) -> tuple[DirectMode, ...]:
    return EXTENDED if languages is LanguageSet.EXTENDED else BASE


def check_installed(
    languages: LanguageSet, folder: Path = MODES_DIR, which: Callable[[str], str | None] = shutil.which
) -> None:
    """Returns when everything that the set needs is installed.

    Raises: EngineMissingError with the line to type.
    """
    tools = [tool for tool in TOOLS if which(tool) is None]
    absent = [mode for mode in _modes(languages) if not (folder / f"{mode.mode}.mode").is_file()]
    if not tools and not absent:
        return
    packages = (*(TOOL_PACKAGES if tools else ()), *_in_order(mode.package for mode in absent))
    what = ", ".join((*tools, *_in_order(mode.mode for mode in absent)))
    raise EngineMissingError(f"Apertium lacks {what}. Type: sudo apt-get install -y {' '.join(packages)}")


def _in_order(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
