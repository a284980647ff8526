"""What exactly made a text?

The version that Apertium's programs report, and one digest over the programs and data files of a mode. Two processes
whose answers may differ thus have different identities, and never read each other's cached answers.
"""

import hashlib
import shutil
import subprocess
from pathlib import Path

from services.translator.engines.apertium.modes import Mode

DIGEST_BYTES = 8


def engine_version() -> str:
    """Version of the transducer, the heart of every mode ("3.7.1")."""
    said = subprocess.run(["lt-proc", "-v"], capture_output=True, text=True, check=True, timeout=10).stdout
    return said.split()[-1]


def mode_digest(mode: Mode) -> str:
    """Digest of the mode's stages, and of the bytes of its programs and data files.

    Raises: OSError when one cannot be read.
    """
    digest = hashlib.blake2b(repr(mode.stages).encode(), digest_size=DIGEST_BYTES)
    programs = dict.fromkeys(stage[0] for stage in mode.stages)
    for path in (*(Path(shutil.which(program) or program) for program in programs), *mode.data_files()):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()
