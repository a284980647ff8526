"""What did a person hand in, and what is it called in problems?"""

from typing import BinaryIO

MAX_BYTES = 1 << 20
STANDARD_INPUT = "standard input"


def read_input(file: BinaryIO) -> tuple[bytes, str]:
    """The text, no more than a manifest can be long, and its name."""
    name = str(getattr(file, "name", "-"))
    return file.read(MAX_BYTES + 1), STANDARD_INPUT if name in ("-", "<stdin>") else name
