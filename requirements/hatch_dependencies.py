"""The names in runtime.in are the distribution's dependencies; the locks pin them, this file does not repeat them."""

import pathlib

from hatchling.metadata.plugin.interface import MetadataHookInterface


class DependenciesFromRequirements(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        lines = (pathlib.Path(self.root) / "requirements" / "runtime.in").read_text(encoding="utf-8").splitlines()
        metadata["dependencies"] = [line for line in lines if line and not line.startswith(("#", "-"))]
