"""The bucket is the reference deployment's key; the identity decides."""

import hashlib
import unicodedata
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cache_proxy.keys import KeyFields, cache_name, framed

KEY = KeyFields(
    tenant="acme", source="en", target="es", domain="law", mime_type="text/plain", model="m1", content="Hello."
)
PREFIX = "The same beginning, word for word. " * 4
LONG, OTHER = (PREFIX[:128] + tail * 72 for tail in "ab")


def test_two_long_texts_with_one_beginning_share_the_bucket_but_not_the_identity() -> None:
    long, other = (cache_name(replace(KEY, content=text)) for text in (LONG, OTHER))
    assert len(LONG) == len(OTHER) == 200
    assert LONG[:128] == OTHER[:128]
    assert long.bucket == other.bucket
    assert long.identity != other.identity
    assert long.text != other.text
    assert long.shared != other.shared


@pytest.mark.parametrize("field", [field.name for field in fields(KeyFields)])
def test_every_field_is_part_of_the_identity(field: str) -> None:
    assert cache_name(replace(KEY, **{field: "text/other"})).identity != cache_name(KEY).identity


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param({"source": "fr"}, False, id="source language"),
        pytest.param({"domain": "tech"}, False, id="domain"),
        pytest.param({"content": "Hullo."}, False, id="text"),
        pytest.param({"target": "fr"}, True, id="not the target language"),
        pytest.param({"model": "m2"}, True, id="not the model"),
        pytest.param({"tenant": "other"}, True, id="not the tenant"),
    ],
)
def test_what_the_bucket_depends_on(change: dict[str, str], same: bool) -> None:
    assert (cache_name(replace(KEY, **change)).bucket == cache_name(KEY).bucket) is same


def test_the_bucket_is_md5_of_the_framed_source_domain_and_prefix() -> None:
    expected = b"\0\0\0\2en" + b"\0\0\0\3law" + b"\0\0\0\x80" + LONG[:128].encode()
    assert cache_name(replace(KEY, content=LONG)).bucket == hashlib.md5(expected).digest()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_the_normal_form_of_a_text_does_not_matter(form: str) -> None:
    composed = replace(KEY, content=unicodedata.normalize(form, "Ça va, José ?"))
    assert cache_name(composed) == cache_name(replace(KEY, content="Ça va, José ?"))


def test_plain_text_is_the_default_format() -> None:
    assert cache_name(replace(KEY, mime_type="")) == cache_name(KEY)


def test_the_name_in_redis_has_the_bucket_as_its_hash_tag() -> None:
    name = cache_name(KEY)
    assert name.shared == f"tc:1:{{{name.bucket.hex()}}}:{name.identity.hex()}"


PARTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5)


@given(PARTS, PARTS)
def test_framing_can_be_cut_in_one_way_only(one: list[str], other: list[str]) -> None:
    assert (framed(*one) == framed(*other)) is (one == other)
