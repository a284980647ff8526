"""Where do logs and token of a run go that named no folder for them? Into a new one, which goes when all went well.

After a failure its logs are what tells why, so they stay, and the last line on stderr says where.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new private folder; it is removed afterwards, unless there was an error and it holds logs."""
    folder = Path(tempfile.mkdtemp(prefix="tidegate-mesh-"))
    try:
        yield folder
    except BaseException:
        if any(folder.glob("*.log")):
            print(f"the logs are in {folder}", file=sys.stderr, flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
