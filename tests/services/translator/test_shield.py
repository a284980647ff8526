"""Which parts of a text must come through untouched?"""

import pytest

from services.translator.shield import shielded_spans


def shielded(text):
    return [text[start:end] for start, end in shielded_spans(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello {name}, you have {{count}} messages", ["{name}", "{{count}}"]),
        ("cost ${amount} and {0}", ["${amount}", "{0}"]),
        ("Hi %s, %d of %(total)d, %1$s, %.2f, 50% sure", ["%s", "%d", "%(total)d", "%1$s", "%.2f"]),
        ("100% de seguridad", []),
        ("See https://a.b/c?d=e#f.", ["https://a.b/c?d=e#f"]),
        ("(http://x.org/y), www.z.org!", ["http://x.org/y", "www.z.org"]),
        ("Write to ana.b+c@mail.example.org.", ["ana.b+c@mail.example.org"]),
        ("Run `rm -rf *` now", ["`rm -rf *`"]),
        ("```\ncode. More\n``` after", ["```\ncode. More\n```"]),
        ('<b>Big</b> <a href="x. Y">', ["<b>", "</b>", '<a href="x. Y">']),
        ("5 < 6 and 7 > 3", []),
        ("<!-- a. B --> x", ["<!-- a. B -->"]),
        ("Tom &amp; Ana &#233; R&D", ["&amp;", "&#233;"]),
        ("call user_id and MAX_SIZE", ["user_id", "MAX_SIZE"]),
        ("plain words, nothing else.", []),
        ("{unclosed and } alone", ["{unclosed and }"]),
        ("{never\nclosed", []),
    ],
)
def test_what_is_shielded(text, parts):
    assert shielded(text) == parts
