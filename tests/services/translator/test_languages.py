"""Which words do callers use for languages?"""

import pytest

from services.translator.languages import NAMES, canonical_tag


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("es", "es"),
        ("ES", "es"),
        ("es-MX", "es"),
        ("es_MX", "es"),
        ("es-419", "es"),
        ("spa", "es"),
        ("eng-GB", "en"),
        ("pt", "pt"),
        ("pt-PT", "pt"),
        ("pt-br", "pt-BR"),
        ("por-BR", "pt-BR"),
        ("ca-valencia", "ca-valencia"),
        ("ca-ES-valencia", "ca"),
        ("gl-Latn-ES", "gl"),
        ("de", None),
        ("und", None),
        ("", None),
        ("e", None),
        ("english", None),
        ("es-", None),
        ("-es", None),
        ("es mx", None),
        ("es\n", None),
        ("es; rm -rf", None),
        ("é", None),
    ],
)
def test_a_tag_is_looked_up_by_its_longest_known_prefix(tag, code):
    assert canonical_tag(tag) == code


def test_every_canonical_code_is_its_own_tag():
    assert {code: canonical_tag(code) for code in NAMES} == {code: code for code in NAMES}
