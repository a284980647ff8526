"""Which documents does the laptop's mesh begin with? Those of mesh/manifests/local, rendered for a leased net."""

from pathlib import Path

import jinja2

import mesh

MANIFESTS = Path(mesh.__file__).parent / "manifests"
SHIFT = MANIFESTS / "translator-shift.yaml"


def render_documents(net: str) -> dict[str, str]:
    """File name -> text."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)  # noqa: S701
    templates = sorted((MANIFESTS / "local").glob("*.yaml.j2"))
    return {
        path.name.removesuffix(".j2"): environment.from_string(path.read_text()).render(net=net) for path in templates
    }


def write_documents(net: str, folder: Path) -> None:
    """The documents as files of the folder, which is made when it is absent."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in render_documents(net).items():
        (folder / name).write_text(text, encoding="utf-8")
