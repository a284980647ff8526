"""Which parts of a text must come through translation untouched?

Placeholders, URLs, e-mail addresses, code, tags and identifiers. They are found before anything else is done with a
text: no sentence ends inside one, and an engine never sees one.

Invariant: the time is linear in the length of the text. Every repetition is bounded, or possessive and begun only where
its run begins, so that no text makes a pattern try the same characters again and again.
"""

import re

_PATTERNS = (
    r"```.*?```",  # fenced code
    r"`[^`\n]+`",  # code
    r"</?[A-Za-z][^<>]{0,500}>",  # tags
    r"<!--.{0,500}?-->",
    r"\{\{[^{}\n]{1,200}\}\}|\$?\{[^{}\n]{0,200}\}",  # {{name}} {name} ${name}
    r"%\([A-Za-z_]\w{0,100}\)[#0\- +]{0,5}\d{0,4}(?:\.\d{1,4})?[a-zA-Z]",  # %(name)s
    r"%(?:\d{1,4}\$)?[0\-+#]{0,5}\d{0,4}(?:\.\d{1,4})?(?:hh|h|ll|l|z)?[sdifuxXeEgGcp@](?![^\W_])",  # %s %1$s %.2f
    r"(?:https?|ftp)://[^\s<>\"]*[^\s<>\".,;:!?)\]}'»”’]",  # URLs, without the sentence's own full stop
    r"www\.[^\s<>\"]*[^\s<>\".,;:!?)\]}'»”’]",
    r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+",  # e-mail addresses
    r"&(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z]\w{1,31});",  # character references
    r"\b[^\W_]++_\w++",  # identifiers
)
_SHIELDED = re.compile("|".join(_PATTERNS), re.DOTALL)


def shielded_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each part that stays as it is, in order, without overlaps."""
    return [match.span() for match in _SHIELDED.finditer(text)]
