"""`python -m tests.conformance`: how much of what istiod does is done by the laptop mesh? `--write` asks a real one."""

import argparse
from collections.abc import Mapping
from contextlib import ExitStack

from tests.conformance import golden, istioctl, oracle, page, results
from tests.conformance.compare import Outcome, Result, compared
from tests.conformance.corpus import HOME, Case, cases
from tests.conformance.generate import generate
from tests.conformance.stack import Stack, running
from tests.support.generated_docs import DOCS

SHOWN = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="ask a real istiod, renew its kept answers and the page")
    parser.add_argument("--generate", action="store_true", help="draw the generated cases anew (then --write)")
    parser.add_argument("--lint", action="store_true", help="ask istioctl about every hand-written case, and keep that")
    parser.add_argument("--at", metavar="API,TOKEN,ADS,DEBUG", help="an istiod that runs already")
    arguments = parser.parse_args()
    if arguments.generate:
        generate()
        cases.cache_clear()
    if arguments.lint:
        istioctl.write(istioctl.ask())
    if arguments.write:
        _ask(arguments.at)
    found = [_compared(case) for case in cases(HOME)]
    if arguments.write:
        results.write(found)
        (DOCS / "conformance.md").write_text(page.page(), encoding="utf-8")
    _tell(found)
    raise SystemExit(any(result.outcome is Outcome.DIFFERENT for result in found))


def _ask(at: str | None) -> None:
    with ExitStack() as on_exit:
        stack = Stack(*at.split(",")) if at else on_exit.enter_context(running())
        answers, refused = oracle.answers(stack, cases())
    golden.write(answers, _by_case(refused))


def _by_case(refused: Mapping[tuple[str, str, str], str]) -> dict[str, str]:
    homes = {case.namespace: case.name for case in cases()}
    return {homes.get(namespace, name): why for (_, namespace, name), why in refused.items()}


def _compared(case: Case) -> Result:
    return compared(case, golden.kept()[case.name].answers)


def _tell(found: list[Result]) -> None:
    for result in found:
        for why in result.refused:
            print(f"refused    {result.case.name}: {why}")
        for difference in result.differences[:SHOWN]:
            print(f"different  {result.case.name}: {difference.path}")
            print(f"           istiod {difference.istiod}\n           ours   {difference.ours}")
    count, documents, equal, refused, different = page.figures([results.ended(result) for result in found])
    print(f"istiod {golden.asked_version()}: {count} cases with {documents} documents")
    print(f"{equal} translated and equal, {refused} refused with a reason, {different} different")


if __name__ == "__main__":
    main()
