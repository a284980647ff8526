"""Writes the stored example of the present schema version: a shift at its second step of three, all of it as JSON.

    python -m tests.support.stored_state

Only for a version that was never released: what was, stays as it is.
"""

import json
from pathlib import Path

from control.engine.upcast import SCHEMA
from tests.support.fake_ports import World
from tests.support.shifts import KEY, apply, run, shift, state_of

FOLDER = Path(__file__).parents[1] / "control" / "engine" / "states"


def main() -> None:
    world = World(pods={"v1": 3, "v2": 2})
    apply(world, shift())
    run(world, lambda each: state_of(each).step == 2 and state_of(each).window.polls > 2)
    text = json.dumps(world.stored[KEY].state, indent=1, sort_keys=True)
    (FOLDER / f"v{SCHEMA}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
