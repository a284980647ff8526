"""Which documents does the laptop's mesh begin with? Those of mesh/manifests/local, rendered for a leased net."""

from pathlib import Path

import jinja2

import mesh
from control.local.layout import Layout

MANIFESTS = Path(mesh.__file__).parent / "manifests"
SHIFT = MANIFESTS / "translator-shift.yaml"


def render_documents(layout: Layout) -> dict[str, str]:
    """File name -> text."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)  # noqa: S701
    templates = sorted((MANIFESTS / "local").glob("*.yaml.j2"))
    places = {"net": layout.net, "gateway_port": layout.gateway_port}
    return {
        path.name.removesuffix(".j2"): environment.from_string(path.read_text()).render(places) for path in templates
    }


def keep_or_write_documents(layout: Layout, former: Layout | None) -> None:
    """The documents of the layout's folder: those that are there, moved to the present net, else the templates'.

    What a supervisor that was killed left is what its mesh ran: weights and a person's edits are kept.
    """
    if former is None:
        write_documents(layout)
        return
    for path in (each for each in layout.documents.iterdir() if each.is_file()):
        text = path.read_bytes()
        path.write_bytes(text.replace(f"{former.net}.".encode(), f"{layout.net}.".encode()))


def write_documents(layout: Layout) -> None:
    """The templates' documents as files of the layout's folder, which is made when it is absent."""
    layout.documents.mkdir(parents=True, exist_ok=True)
    for name, text in render_documents(layout).items():
        (layout.documents / name).write_text(text, encoding="utf-8")
