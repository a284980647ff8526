"""What did a person hand in, and what is it called in problems?"""

from typing import BinaryIO

MAX_BYTES = 1 << 19
"""More than a manifest may have and less than the controller takes in one message: what is longer is cut here, and
refused as too long by the reader of manifests.
"""
STANDARD_INPUT = "standard input"


def read_input(file: BinaryIO) -> tuple[bytes, str]:
    """The text, and its name."""
    name = str(getattr(file, "name", "-"))
    return file.read(MAX_BYTES + 1), STANDARD_INPUT if name in ("-", "<stdin>") else name
