"""What did istiod say when it was last asked? Kept in canonical form, so that nobody needs an istiod to compare.

One compressed file for each file of the corpus. An answer stands beside a digest of the documents that it is about, so
that a changed case is never compared with an old answer.
"""

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tests.conformance.compare import Answers
from tests.conformance.corpus import HOME, Case, cases

GOLDEN = Path(__file__).parent / "golden"
PINS = Path(__file__).parents[1] / "cluster" / "tools" / "istio" / "go.mod"


@dataclass(frozen=True, slots=True)
class Kept:
    """Istiod's answer to one case, and the digest of the case's documents. `refused`: the API server took them not."""

    digest: str
    answers: Answers
    refused: str = ""


def istiod_version() -> str:
    """The version of the istiod that is asked, as its build is pinned."""
    found = re.search(r"istio\.io/istio (v\S+)", PINS.read_text(encoding="utf-8"))
    assert found, PINS
    return found[1]


def digest(case: Case) -> str:
    """Changes when anything of the case's documents does."""
    text = json.dumps([each.manifest() for each in (*case.scene, *case.documents)], sort_keys=True)
    return blake2b(text.encode(), digest_size=8).hexdigest()


@cache
def kept() -> Mapping[str, Kept]:
    """Every kept answer by the name of its case."""
    found: dict[str, Kept] = {}
    for path in sorted(GOLDEN.glob("*.json.gz")):
        content = json.loads(gzip.decompress(path.read_bytes()))
        found |= {name: Kept(**each) for name, each in content["cases"].items()}
    return found


def asked_version() -> str:
    """The version of the istiod that the kept answers are from."""
    path = next(iter(sorted(GOLDEN.glob("*.json.gz"))))
    return str(json.loads(gzip.decompress(path.read_bytes()))["istiod"])


def write(answers: Mapping[str, Answers], refused: Mapping[str, str]) -> None:
    """Keeps these answers, and only these."""
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.json.gz"):
        path.unlink()
    here = cases(HOME)
    for group in sorted({case.group for case in here}):
        _write(group, (case for case in here if case.group == group), answers, refused)
    kept.cache_clear()


def _write(group: str, found: Iterable[Case], answers: Mapping[str, Answers], refused: Mapping[str, str]) -> None:
    told = {case.name: _entry(case, answers[case.name], refused.get(case.name, "")) for case in found}
    content = json.dumps({"istiod": istiod_version(), "cases": told}, sort_keys=True, separators=(",", ":"))
    (GOLDEN / f"{group}.json.gz").write_bytes(gzip.compress(content.encode(), mtime=0))


def _entry(case: Case, answers: Answers, refused: str) -> dict[str, Any]:
    return {"digest": digest(case), "answers": answers, "refused": refused}
