"""Are the routes and versions that a text names in the mesh, and does it watch what the mesh does differently for them?
Asked when a shift is applied, so that its author hears of a mistake at once; the loop asks for the routes again at
every look, since documents come and go.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from control.errors import NotFound, Rejected, TidegateError
from control.ports import Documents
from control.spec import TrafficShift
from control.spec.mentions import Mention, Mentions
from control.spec.mistake import Mistake
from control.spec.release import release_rule
from control.spec.text import Path
from mesh.istio.problem import DocumentError, MissingDestination
from mesh.istio.weights import RouteView, weight_patch
from mesh.traffic import TrafficSplit


@dataclass(frozen=True, slots=True)
class Answers:
    """What does not fit the mesh. `complete` is False when it could not be asked about every route."""

    mistakes: tuple[Mistake, ...] = ()
    complete: bool = True


async def ask_mesh(documents: Documents, mentioned: Mentions) -> Answers:
    """All that the mesh says to what a text names."""
    answers = await asyncio.gather(*(_answer(documents, each, mentioned.splits) for each in mentioned.routes))
    mistakes = tuple(mistake for answer in answers for mistake in answer.mistakes)
    return Answers(mistakes, all(answer.complete for answer in answers))


async def ask_versions(documents: Documents, shift: TrafficShift) -> Answers:
    """What the shift would have to watch, because callers wait or retry otherwise for one of its versions."""
    try:
        differing = await documents.differences(shift.namespace, shift.target.host, (shift.stable, shift.canary))
    except TidegateError:
        return Answers(complete=False)
    return Answers(release_rule(shift, differing))


async def _answer(documents: Documents, mention: Mention, splits: Sequence[TrafficSplit]) -> Answers:
    try:
        view = await documents.route(mention.ref)
    except (NotFound, Rejected) as error:
        return Answers((Mistake(mention.path, error.message, error.hint),))
    except TidegateError:
        return Answers(complete=False)
    return Answers(tuple(_unwritable(view, mention, splits)))


def _unwritable(view: RouteView, mention: Mention, splits: Iterable[TrafficSplit]) -> list[Mistake]:
    """Why the first split that can't be written can't be."""
    for split in splits:
        try:
            weight_patch(view, split)
        except DocumentError as error:
            return [Mistake(_path(error, mention, split), error.message, error.hint)]
    return []


def _path(error: DocumentError, mention: Mention, split: TrafficSplit) -> Path:
    """The version that is no destination when it is one of the two, else the route."""
    match error:
        case MissingDestination(subsets=(subset,)):
            return ("spec", "stable" if subset == split.stable else "canary")
        case _:
            return mention.path
