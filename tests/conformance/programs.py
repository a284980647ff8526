"""Where are istiod and what it needs? One function, so that whoever runs the comparison can say it otherwise."""

import os
import shutil
from pathlib import Path

FOLDER = "TIDEGATE_CLUSTER_PROGRAMS"
_CACHE = Path("~/.cache/tidegate").expanduser()


class Missing(Exception):
    """A program that the comparison with a real istiod needs is not on this machine."""


def find(name: str) -> Path:
    """The file called `name`: in the folder that the environment names, in the cache of built programs, on the path.

    Raises: Missing
    """
    named = os.environ.get(FOLDER)
    places = [Path(named)] if named else sorted(_CACHE.glob("*"))
    found = next((place / name for place in places if (place / name).is_file()), None) or shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not in {named or _CACHE} nor on the path")
    return Path(found)
