"""What exactly does a request ask for?"""

import pytest

from services.runtime.errors import CallError
from services.translator.engines.apertium.catalog import chains
from services.translator.languages import LanguageSet, Pair
from services.translator.request import Offer, Wanted, checked

BASE, EXTENDED = (Offer(frozenset(chains(languages))) for languages in LanguageSet)


@pytest.mark.parametrize(
    ("offer", "source", "target", "expected"),
    [
        (BASE, "en", "es", ("en", "es")),
        (BASE, "en-GB", "es-MX", ("en", "es")),
        (BASE, "", "es", (None, "es")),
        (BASE, "es", "es", ("es", "es")),
        (EXTENDED, "en", "pt-BR", ("en", "pt-BR")),
        (EXTENDED, "pt-BR", "en", ("pt-BR", "en")),
    ],
)
def test_languages_are_made_canonical(offer, source, target, expected):
    wanted = checked(["a"], "", source, target, "med", offer=offer)
    assert wanted == Wanted(("a",), *expected, "med")


@pytest.mark.parametrize(
    ("offer", "source", "target", "sentence"),
    [
        (BASE, "en", "", "target_language_code: is required"),
        (BASE, "en", "pt", "'pt' is not a language of this version (offered: en, es, fr)"),
        (BASE, "de", "es", "'de' is not a language of this version"),
        (BASE, "en", "fr", "en to fr is not offered by this version (offered: en-es, es-en, es-fr, fr-es)"),
        (BASE, "e n", "es", "'e n' is not a language"),
        (EXTENDED, "pt", "pt-BR", "pt to pt-BR is not offered"),
    ],
)
def test_what_is_not_offered_is_refused_with_what_is(offer, source, target, sentence):
    with pytest.raises(CallError) as refused:
        checked(["a"], "", source, target, "", offer=offer)
    assert sentence in refused.value.message


def test_all_mistakes_come_back_together():
    with pytest.raises(CallError) as refused:
        checked([], "text/html", "xx", "", "", offer=BASE)
    fields = [violation.field for violation in refused.value.violations]
    assert fields == ["contents", "mime_type", "target_language_code", "source_language_code"]


def test_a_variety_falls_back_to_its_language_as_a_source():
    assert EXTENDED.pair("pt-BR", "en") == Pair("pt", "en")
    assert EXTENDED.pair("en", "pt-BR") == Pair("en", "pt-BR")
    assert EXTENDED.pair("en", "de") is None


def test_the_sources_of_a_target():
    assert BASE.sources_of("es") == ("en", "fr")
    assert BASE.sources_of("en") == ("es",)
    assert EXTENDED.sources_of("pt") == ("ca", "en", "es", "fr", "gl", "it")
