"""Where are the programs of the small cluster, and how do they get there? Built once from pinned Go modules, kept by
the hash of what pins them.

`tests/cluster/tools/<name>` holds a Go module for each: versions and sums, no source. A module's build takes some
minutes the first time and is never repeated until its pins change.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import control
from control.errors import StartFailed

MODULES = Path(control.__file__).parent.parent / "tests" / "cluster" / "tools"
KUBERNETES = "v1.34.4"
_VERSION = "k8s.io/component-base/version"
_STAMPS = {"gitVersion": KUBERNETES, "gitMajor": "1", "gitMinor": "34"}
STAMPED = " ".join(f"-X {_VERSION}.{name}={value}" for name, value in _STAMPS.items())
"""Kubernetes built as a module calls itself v0.0.0, which some clients refuse."""
_CRDS = "kubernetes/customresourcedefinitions.gen.yaml"


@dataclass(frozen=True, slots=True)
class Module:
    """A Go module of pins: the programs it builds by import path, and files copied from modules that it names."""

    name: str
    programs: Sequence[str]
    flags: Sequence[str] = ()
    copied: Sequence[tuple[str, str, str]] = ()


ISTIO = Module(
    "istio",
    ("istio.io/istio/pilot/cmd/pilot-discovery", "istio.io/istio/istioctl/cmd/istioctl"),
    copied=(("istio.io/api", _CRDS, "istio-crds.yaml"),),
)
KUBE = Module(
    "kubernetes",
    tuple(f"k8s.io/kubernetes/cmd/{each}" for each in ("kube-apiserver", "kube-controller-manager", "kubectl")),
    flags=("-ldflags", STAMPED),
)
HELM = Module("helm", ("helm.sh/helm/v3/cmd/helm",))
SKAFFOLD = Module("skaffold", ("github.com/GoogleContainerTools/skaffold/v2/cmd/skaffold",))
"""For the tests of what installs the product: a cluster needs neither."""


def folder(module: Module, modules: Path = MODULES) -> Path:
    """Where a module's programs are once they are built. Raises StartFailed outside of a checkout."""
    sums = modules / module.name / "go.sum"
    if not sums.is_file():
        raise StartFailed(
            f"{sums} is missing: the small cluster is built from a checkout of the project",
            "clone the project and install it with `make setup`",
        )
    digest = hashlib.sha256(sums.read_bytes()).hexdigest()[:16]
    return Path("~/.cache/tidegate").expanduser() / digest


def built(module: Module, report: Callable[[str], None], modules: Path = MODULES) -> Path:
    """The folder with the module's programs, built now if they are not there. Raises StartFailed."""
    target = folder(module, modules)
    with _alone(target):
        if not (target / ".complete").exists():
            report(f"building {module.name}'s programs into {target}: some minutes, once")
            _build(module, modules / module.name, target)
            (target / ".complete").touch()
    return target


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Two that want the same programs at once: the second waits for the first."""
    target.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(target / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _build(module: Module, source: Path, target: Path) -> None:
    _go(source, "build", "-mod=readonly", *module.flags, "-o", f"{target}/", *module.programs)
    for name, path, copy in module.copied:
        found = Path(_go(source, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", name).strip()) / path
        shutil.copyfile(found, target / copy)


def _go(source: Path, *arguments: str) -> str:
    """What go prints. Raises StartFailed with its last words."""
    go = shutil.which("go")
    if go is None:
        raise StartFailed("Go is missing: it builds the small cluster's programs", "install Go 1.26 or newer")
    done = subprocess.run([go, *arguments], cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        words = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise StartFailed(f"go {arguments[0]} failed in {source}:\n{words}", "is the Go module proxy reachable?")
    return done.stdout
