"""The templates of the Helm chart: the manifests that kustomize renders, with what a person may set put in."""

from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "mesh" / "manifests" / "kubernetes"
HEADER = "{{- /* Made from the files of mesh/manifests/kubernetes by `make docs`. */ -}}\n"
Change = tuple[str, str]

OWN = ("namespace: tidegate-system", "namespace: {{ .Release.Namespace }}")
RIGHTS: Sequence[Change] = (OWN, ("namespace: istio-system", "namespace: {{ .Values.istioNamespace }}"))
NAMESPACED: Sequence[Change] = (OWN, ("namespace: shop", "namespace: {{ .Values.namespace }}"))
POLICIES: Sequence[Change] = (
    ("system:serviceaccount:tidegate-system:", "system:serviceaccount:{{ .Release.Namespace }}:"),
)
IMAGE = "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
CONTROLLER: Sequence[Change] = (
    OWN,
    ("replicas: 2", "replicas: {{ .Values.replicas }}"),
    ("image: tidegate:0.1.0", f"image: {IMAGE}"),
    ("runAsUser: 65532, ", "{{ if .Values.fixedUser }}runAsUser: 65532, {{ end }}"),
    ('value: "http://istiod.istio-system:15014"', "value: {{ .Values.istiod | quote }}"),
    (
        'value: "http://prometheus.istio-system:9090"}\n',
        "value: {{ .Values.prometheus | quote }}}\n"
        "            {{- if .Values.namespace }}\n"
        "            - {name: TIDEGATE_NAMESPACE, value: {{ .Values.namespace | quote }}}\n"
        "            {{- end }}\n",
    ),
    (
        "          resources:\n"
        "            requests: {cpu: 200m, memory: 256Mi}\n"
        '            limits: {cpu: "2", memory: 512Mi}\n',
        "          resources: {{- toYaml .Values.resources | nindent 12 }}\n",
    ),
    (
        "        - {name: state, emptyDir: {sizeLimit: 64Mi}}\n",
        "        {{- if .Values.ledgerClaim }}\n"
        "        - {name: state, persistentVolumeClaim: {claimName: {{ .Values.ledgerClaim }}}}\n"
        "        {{- else }}\n"
        "        - {name: state, emptyDir: {sizeLimit: 64Mi}}\n"
        "        {{- end }}\n",
    ),
)  # fmt: skip


def changed(name: str, changes: Sequence[Change]) -> str:
    """A manifest with its values put in. Raises AssertionError for a change that finds nothing to change."""
    text = (SOURCE / name).read_text(encoding="utf-8")
    assert "{{" not in text, f"{name} has braces that Helm would read"
    for before, after in changes:
        assert before in text, f"{name} has no {before!r}"
        text = text.replace(before, after)
    return text


def when(condition: str, text: str, otherwise: str = "") -> str:
    other = f"{{{{- else }}}}\n{otherwise}" if otherwise else ""
    return f"{{{{- if {condition} }}}}\n{text}{other}{{{{- end }}}}\n"


CHART: dict[str, Callable[[], str]] = {
    "crds/trafficshifts.yaml": lambda: changed("base/crd.yaml", ()),
    "templates/rights.yaml": lambda: HEADER + changed("base/rights.yaml", RIGHTS),
    "templates/binding.yaml": lambda: HEADER + when(
        ".Values.namespace", changed("namespaced/binding.yaml", NAMESPACED), changed("cluster/binding.yaml", (OWN,))
    ),
    "templates/manage-subsets.yaml": lambda: HEADER + when(
        ".Values.manageSubsets", changed("manage-subsets/rights.yaml", (OWN,))
    ),
    "templates/policies.yaml": lambda: HEADER + when(".Values.policies", changed("base/policies.yaml", POLICIES)),
    "templates/controller.yaml": lambda: HEADER + changed("base/controller.yaml", CONTROLLER),
}  # fmt: skip
"""By path below mesh/manifests/helm/tidegate."""
