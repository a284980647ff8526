"""What keeps a shift from being looked at, and what happens then? The kind of the error decides.

| error | what it means | what happens |
|---|---|---|
| Conflict | somebody wrote in between | looked at again after a moment |
| Unavailable | mesh, Envoys or store not reached | again with growing waits, shown meanwhile |
| NotFound, Rejected, Refused, SpecError | a document or the mesh says no | the same; a change of documents wakes it
earlier | | InvariantBroken, anything else | our own bug | frozen: no look until a person acts on the shift or the
controller restarts |

A trouble is not state: it is what the last look ran into, and ends with the next one that succeeds.
"""

from dataclasses import dataclass
from datetime import datetime

from control.errors import Conflict, InvariantBroken, TidegateError


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why looks at a shift fail: `code` as in `control.errors`, how many in a row, and since when."""

    code: str
    message: str
    hint: str
    since: datetime
    failures: int = 1
    frozen: bool = False

    @property
    def passing(self) -> bool:
        """A first lost race is daily business and shown to nobody."""
        return self.code == Conflict.code and self.failures == 1


def trouble_of(error: Exception, now: datetime, before: Trouble | None) -> Trouble:
    """The trouble after one more failed look."""
    failures = before.failures + 1 if before else 1
    since = before.since if before else now
    if isinstance(error, TidegateError) and not isinstance(error, InvariantBroken):
        return Trouble(error.code, error.message, error.hint, since, failures)
    message = error.message if isinstance(error, TidegateError) else f"{type(error).__name__}: {error}"
    hint = "this is a bug of Tidegate: traffic stays as it is; please report it with the controller's log"
    return Trouble(InvariantBroken.code, message, hint, since, failures, frozen=True)
