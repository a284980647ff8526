"""What does our translation make of a case, in the same JSON form in which istiod's answer is read?"""

import json

from mesh.istio.document import Document, read_documents
from mesh.istio.problem import Problem
from mesh.xds.translate import CLUSTER, ENDPOINT, LISTENER, ROUTE, check, node_resources, proxies
from tests.conformance.ads import Told, read
from tests.conformance.corpus import Case, Proxy, Written


def documents(case: Case) -> list[Document]:
    """The case's documents and those of its scene, as our mesh reads them."""
    return [_document(each) for each in (*case.scene, *case.documents)]


def _document(written: Written) -> Document:
    raw = json.dumps(written.manifest(created=True)).encode()
    found, problems = read_documents(f"{written.kind}-{written.namespace}-{written.name}.yaml", raw)
    assert not problems, problems
    return found[0]


def refusals(case: Case) -> list[Problem]:
    """Why our mesh doesn't run the case; empty when it does."""
    return check(documents(case))


def translated(case: Case, proxy: Proxy) -> Told:
    """Everything that one proxy of the case has on our mesh."""
    found = documents(case)
    node = next(each for each in proxies(found) if each.id == f"{proxy.name}.{proxy.namespace}")
    made = node_resources(found, node)
    kinds = {CLUSTER: made.clusters, ENDPOINT: made.endpoints, LISTENER: made.listeners, ROUTE: made.routes}
    return {
        kind: {name: read(kind, found.body) for name, found in resources.items()} for kind, resources in kinds.items()
    }
