"""What does istiod call things? Names are part of the twin's promise: dashboards and tools find them by name."""

BLACK_HOLE = "BlackHoleCluster"
PASSTHROUGH = "PassthroughCluster"


def outbound_cluster(port: int, subset: str, host: str) -> str:
    """The cluster of calls to a host's port, or to one subset of it."""
    return f"outbound|{port}|{subset}|{host}"


def inbound_cluster(port: int) -> str:
    """The cluster from a workload's Envoy to its application."""
    return f"inbound|{port}||"


def listener(bind: str, port: int) -> str:
    """The listener at an address."""
    return f"{bind}_{port}"


def gateway_route(port: int, bind: str) -> str:
    """The RouteConfiguration of a gateway's HTTP servers at one address."""
    return f"http.{port}.{bind}" if bind else f"http.{port}"


def stat_prefix(name: str) -> str:
    """A name with the mark that ends it, because names carry dots themselves."""
    return f"{name};"


def config_path(kind: str, namespace: str, name: str) -> str:
    """Where a document lives in the Kubernetes API; routes and clusters carry it as metadata."""
    return f"/apis/networking.istio.io/v1/namespaces/{namespace}/{kind}/{name}"
