"""How does a plain value look as YAML or JSON text?

Written here and not by PyYAML, whose import costs as much as all the rest of a short command: values are only dicts,
lists, text, numbers, booleans and None, which block style and JSON's own quoting hold.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLAIN_TEXT = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./(-][A-Za-z0-9_./()-]*)*")
_WORDS_OF_YAML = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"})


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def yaml_text(value: Any) -> str:
    """Block style; text that could be read as anything else is quoted as in JSON."""
    if isinstance(value, Mapping | list) and value:
        return "\n".join(_block(value)) + "\n"
    return _scalar(value) + "\n"


def _block(value: Mapping[str, Any] | list[Any]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{_scalar(str(key))}:", item, indent="  ")
        return
    for item in value:
        yield from _entry("-", item, indent="  ")


def _entry(head: str, item: Any, *, indent: str) -> Iterator[str]:
    if not (isinstance(item, Mapping | list) and item):
        yield f"{head} {_scalar(item)}"
        return
    lines = _block(item)
    if head == "-":
        yield f"- {next(lines)}"
    else:
        yield head
    for line in lines:
        yield indent + line


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, str) and _PLAIN_TEXT.fullmatch(value) and value.lower() not in _WORDS_OF_YAML:
        return value
    # YAML reads JSON's escapes, but not a float without a point before its exponent, nor surrogate pairs.
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return "".join(ch if ch.isprintable() else _escaped(ch) for ch in text)
    return re.sub(r"^(-?\d+)e", r"\1.0e", text)


def _escaped(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
