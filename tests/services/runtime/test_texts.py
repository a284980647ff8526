"""Which texts does a service accept?"""

import pytest

from services.runtime.texts import TextLimits, request_violations, text_problem


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "plain",
        "שלום \u202eabc\u202c",
        "\ufeffBOM",
        "👨‍👩‍👧",
        "e\u0301",
        "a\r\nb",
        "\x01\x7f",
        "\U0010ffff",
    ],
)
def test_accepted_as_they_are(text):
    assert text_problem(text) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\0b", "holds a NUL character at position 1"),
        ("\0", "holds a NUL character at position 0"),
        ("ab\ud800", "holds a lone surrogate at position 2"),
        ("\udfff", "holds a lone surrogate at position 0"),
    ],
)
def test_refused_with_the_place(text, problem):
    assert text_problem(text) == problem


def violations(texts, mime_type="", **limits):
    found = request_violations(texts, mime_type, limits=TextLimits(**limits) if limits else None)
    return [f"{violation.field} {violation.description}" for violation in found]


@pytest.mark.parametrize(
    ("texts", "mime_type", "expected"),
    [
        (["a"], "", []),
        (["a"], "text/plain", []),
        ([""] * 1_024, "", []),
        (["x" * 30_720], "", []),
        ([], "", ["contents is empty; give at least one text"]),
        (["a"], "text/html", ["mime_type 'text/html' is not supported; use 'text/plain'"]),
        ([""] * 1_025, "", ["contents has 1025 texts; at most 1,024 are allowed"]),
        (["x" * 30_721], "", ["contents has 30,721 code points in all; at most 30,720 are allowed"]),
        (["x" * 1_000_000], "", ["contents has 1,000,000 code points in all; at most 30,720 are allowed"]),
        (
            [],
            "x/y",
            ["contents is empty; give at least one text", "mime_type 'x/y' is not supported; use 'text/plain'"],
        ),
    ],
)
def test_the_request_as_a_whole(texts, mime_type, expected):
    assert violations(texts, mime_type) == expected


def test_limits_can_be_narrower():
    assert violations(["abc"], code_points=2) == ["contents has 3 code points in all; at most 2 are allowed"]
