"""Which pairs can be served, and what must be installed?"""

import pytest

from services.translator.engines.apertium.catalog import BASE, EXTENDED, chains, check_installed
from services.translator.engines.engine import EngineMissingError, Route
from services.translator.languages import NAMES, LanguageSet, Pair


def test_the_base_set_is_direct():
    assert sorted(map(str, chains(LanguageSet.BASE))) == ["en-es", "es-en", "es-fr", "fr-es"]
    assert all(not chain.route.via for chain in chains(LanguageSet.BASE).values())


@pytest.mark.parametrize(
    ("source", "target", "via", "modes"),
    [
        ("en", "es", (), ("eng-spa",)),
        ("en", "gl", (), ("en-gl",)),
        ("en", "pt", ("es",), ("eng-spa", "es-pt")),
        ("en", "pt-BR", ("es",), ("eng-spa", "es-pt_BR")),
        ("fr", "ca-valencia", ("es",), ("fr-es", "spa-cat_valencia")),
        ("it", "en", ("es",), ("ita-spa", "spa-eng")),
        ("gl", "pt", ("es",), ("gl-es", "es-pt")),
    ],
)
def test_the_extended_set_pivots_where_nothing_is_direct(source, target, via, modes):
    chain = chains(LanguageSet.EXTENDED)[Pair(source, target)]
    assert chain.route == Route(Pair(source, target), via)
    assert chain.modes == modes


def test_every_two_languages_of_the_extended_set_are_served_both_ways():
    pairs = chains(LanguageSet.EXTENDED)
    plain = [code for code in NAMES if "-" not in code]
    assert all(Pair(a, b) in pairs for a in plain for b in plain if a != b)
    assert not [pair for pair in pairs if pair.source.split("-")[0] == pair.target.split("-")[0]]
    assert set(chains(LanguageSet.BASE)) < set(pairs)


def installed(folder, modes):
    for mode in modes:
        (folder / f"{mode.mode}.mode").write_text("lt-proc x")


def test_all_there(tmp_path):
    installed(tmp_path, EXTENDED)
    for languages in LanguageSet:
        check_installed(languages, tmp_path, which=lambda tool: f"/usr/bin/{tool}")


def test_the_line_to_type_names_what_is_missing_and_no_more(tmp_path):
    installed(tmp_path, BASE[:2])
    with pytest.raises(EngineMissingError) as missing:
        check_installed(LanguageSet.BASE, tmp_path, which=lambda tool: f"/usr/bin/{tool}")
    said = "Apertium lacks fr-es, es-fr. Type: sudo apt-get install -y apertium-fr-es"
    assert str(missing.value) == said


def test_without_any_apertium_the_line_names_its_tools_too(tmp_path):
    with pytest.raises(EngineMissingError) as missing:
        check_installed(LanguageSet.BASE, tmp_path, which=lambda tool: None)
    line = "apt-get install -y apertium lttoolbox apertium-lex-tools cg3 apertium-eng-spa apertium-fr-es"
    assert str(missing.value).endswith(line)
