"""What can stand here? Answers for shell completion: silent when nothing runs, and never slow."""

import click

ANSWER_WITHIN_S = 1.0


def shift_names(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of the shifts that the running controller knows."""
    from control.cli.connection import controller, run
    from control.errors import TidegateError
    from control.settings import settings

    state_dir = context.params.get("state_dir") or settings().state_dir

    async def names() -> list[str]:
        async with controller(state_dir, timeout_s=ANSWER_WITHIN_S) as client:
            return [shift.name for shift in await client.list()]

    try:
        return [name for name in run(names()) if name.startswith(incomplete)]
    except TidegateError:
        return []
