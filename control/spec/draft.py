"""What can be said of a text before it is a shift? What it names of the mesh, so that the mesh can be asked as well.

Whoever can ask hands the mesh's mistakes in, and all come back together with the text's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from control.spec.mentions import Mentions, mentions
from control.spec.mistake import Mistake
from control.spec.parse import parsed
from control.spec.shift import TrafficShift
from control.spec.text import Text, read_text


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that was read, and is not judged yet."""

    text: Text
    source: str

    def mentions(self) -> Mentions:
        return mentions(self.text.data)

    def shift(self, more: Iterable[Mistake] = ()) -> TrafficShift:
        """Raises: SpecError with all problems, `more` among them, in the order of the text."""
        return parsed(self.text, self.source, more)


def read_draft(text: bytes, source: str) -> Draft:
    return Draft(read_text(text, source), source)
