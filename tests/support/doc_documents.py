"""Mesh documents for tests, from a few words."""

from mesh.istio.document import Document, read_documents


def virtual_service(
    http: str, *, name: str = "translator", namespace: str = "default", gateways: str = "", hosts: str = "[translator]"
) -> str:
    """A VirtualService whose `spec.http` is the given block of YAML, indented by four spaces."""
    bound = f"  gateways: {gateways}\n" if gateways else ""
    return (
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\n"
        f"spec:\n  hosts: {hosts}\n{bound}  http:\n{http}"
    )


def document(text: str, *, file: str = "mesh.yaml") -> Document:
    """The one document of a text; fails on any problem."""
    documents, problems = read_documents(file, text.encode())
    assert not problems, problems
    assert len(documents) == 1
    return documents[0]


def documents(text: str, *, file: str = "mesh.yaml") -> list[Document]:
    """The documents of a text; fails on any problem."""
    found, problems = read_documents(file, text.encode())
    assert not problems, problems
    return found


SPLIT_ROUTE = """\
    - name: primary
      route:
        - destination: {host: translator, subset: v1}
          weight: 90
        - destination: {host: translator, subset: v2}
          weight: 10
"""
