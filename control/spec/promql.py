"""How does a person's PromQL get its variables? `{{ version }}` and the like, each escaped for where it stands.

A value can therefore never end the string that it stands in, nor be read as a pattern. Nothing is repaired silently: a
variable at a place where no value can be safe is refused.
"""

import difflib
import re
from collections.abc import Mapping

VARIABLES = ("namespace", "host", "service", "version", "interval")
"""`service` is the host's first label, `interval` five scrape intervals; it alone may stand outside quotes."""
BARE = "interval"
_TEMPLATE = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_PART = re.compile(
    r"""(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)  # a string, in which a backslash escapes
    |   (?P<raw>`[^`]*`)                                             # a string, in which nothing can be escaped
    |   (?P<comment>\#[^\n]*)
    |   (?P<bare>\{\{.*?\}\})
    |   (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_INTERVAL = re.compile(r"(?:\d+(?:ms|[smhdwy]))+")
_PATTERN_SIGNS = re.compile(r"[\\.+*?()|\[\]{}^$]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def rendered(query: str, variables: Mapping[str, str]) -> str:
    """The query with its variables filled in.

    Raises: ValueError for a variable that does not exist, or stands where no value is safe.
    Example: `up{v="{{ version }}"}` with the version `a"b` is `up{v="a\\"b"}`; after `=~`, `v.2` is `v\\\\.2`.
    """
    return "".join(_rendered(part, variables) for part in _PART.finditer(query))


def variables_in(query: str) -> tuple[str, ...]:
    """The variables that the query names, in order, whether they exist or not."""
    return tuple(_TEMPLATE.findall(query))


def _rendered(part: re.Match[str], variables: Mapping[str, str]) -> str:
    whole = part[0]
    if not _TEMPLATE.search(whole):
        return whole
    if part["quote"]:
        quote, pattern = part["quote"], part.string[: part.start()].rstrip().endswith("~")
        return (
            quote
            + _TEMPLATE.sub(lambda each: _escaped(_value(each[1], variables), quote, pattern), part["text"])
            + quote
        )
    if part["bare"]:
        return _TEMPLATE.sub(lambda each: _bare(each[1], variables), whole)
    place = "a comment" if part["comment"] else "backticks, where nothing can be escaped"
    raise ValueError(f"a variable in {place}: write it in double quotes")


def _value(name: str, variables: Mapping[str, str]) -> str:
    if name not in VARIABLES:
        close = difflib.get_close_matches(name, VARIABLES, n=1)
        hint = f"did you mean {{{{ {close[0]} }}}}?" if close else f"known are {', '.join(VARIABLES)}"
        raise ValueError(f"there is no variable {{{{ {name} }}}}: {hint}")
    return variables[name]


def _bare(name: str, variables: Mapping[str, str]) -> str:
    value = _value(name, variables)
    if name != BARE:
        raise ValueError(f'{{{{ {name} }}}} outside of quotes: write label="{{{{ {name} }}}}"')
    if not _INTERVAL.fullmatch(value):
        raise ValueError(f"{value!r} is no interval of Prometheus")
    return value


def _escaped(value: str, quote: str, pattern: bool) -> str:
    """The value as the inside of a string that `quote` begins and ends; a pattern matches it and nothing else."""
    meant = _PATTERN_SIGNS.sub(r"\\\g<0>", value) if pattern else value
    text = meant.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return _CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text)
