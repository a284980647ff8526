"""Which Gateways, ServiceEntries, WorkloadEntries and Sidecars would istiod's webhook refuse, or can't be run here?"""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from mesh.istio.finding import Finding, duplicates, is_host, is_label
from mesh.istio.rules_balancing import pool

Data = Mapping[str, Any]
Path = tuple[str | int, ...]
_UNIX = "unix://"
_OWN_HOSTS = ("127.0.0.1", "0.0.0.0", "[::1]")  # noqa: S104
_NOWHERE = ("~/*", "~")


def is_address(text: str) -> bool:
    """Is this an IP address?"""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _servers(spec: Data) -> Iterator[Finding]:
    for index, server in enumerate(spec["servers"]):
        for number, text in enumerate(server["hosts"]):
            host = text.rpartition("/")[2]
            if not is_host(host) or ("." not in host and host != "*"):
                path = ("spec", "servers", index, "hosts", number)
                yield Finding(path, f"{text!r} is not a full host name, * or namespace/host")


def _service_hosts(spec: Data) -> Iterator[Finding]:
    for index, host in enumerate(spec["hosts"]):
        if not is_host(host):
            yield Finding(("spec", "hosts", index), f"{host!r} is not a host name")
        if host == "*":
            yield Finding(("spec", "hosts", index), "the host * is not allowed")
        if host.startswith("*") and spec["resolution"] != "STATIC":
            yield Finding(("spec", "hosts", index), "a wildcard host can't be looked up by DNS")
    for index, host in duplicates(host.lower() for host in spec["hosts"]):
        yield Finding(("spec", "hosts", index), f"{host!r} stands there already")


def _service_ports(spec: Data) -> Iterator[Finding]:
    ports = spec.get("ports", ())
    for index, number in duplicates(port["number"] for port in ports):
        yield Finding(("spec", "ports", index, "number"), f"there is a port {number} already")
    for index, name in duplicates(port["name"] for port in ports):
        yield Finding(("spec", "ports", index, "name"), f"there is a port called {name!r} already")


def _service_endpoints(spec: Data) -> Iterator[Finding]:
    endpoints = spec.get("endpoints", ())
    names = {port["name"] for port in spec.get("ports", ())}
    if {"endpoints", "workloadSelector"} <= spec.keys():
        yield Finding(("spec", "workloadSelector"), "a service has either endpoints or a workloadSelector")
    if "workloadSelector" in spec and not spec["workloadSelector"].get("labels"):
        yield Finding(("spec", "workloadSelector"), "a workloadSelector without labels picks nothing")
    for index, endpoint in enumerate(endpoints):
        path = ("spec", "endpoints", index)
        yield from _endpoint(endpoint, path)
        if spec["resolution"] == "STATIC" and not (is_address(endpoint["address"]) or _is_unix(endpoint)):
            yield Finding(
                (*path, "address"), f"{endpoint['address']!r} is not an address", "resolution DNS looks names up"
            )
        for name in endpoint.get("ports", {}):
            if name not in names:
                yield Finding((*path, "ports", name), f"the service has no port called {name!r}")


def _service_addresses(spec: Data) -> Iterator[Finding]:
    for index, address in enumerate(spec.get("addresses", ())):
        if not is_address(address):
            yield Finding(("spec", "addresses", index), f"{address!r} is not an address")


def _workload(spec: Data) -> Iterator[Finding]:
    yield from _endpoint(spec, ("spec",))


def _is_unix(endpoint: Data) -> bool:
    return bool(endpoint["address"].startswith(_UNIX))


def _endpoint(endpoint: Data, path: Path) -> Iterator[Finding]:
    address = endpoint["address"]
    if _is_unix(endpoint):
        if not address.removeprefix(_UNIX).startswith("/"):
            yield Finding((*path, "address"), f"{address!r} has no absolute path", "write unix:///path")
        if endpoint.get("ports"):
            yield Finding((*path, "ports"), "a unix socket has no ports")
    elif not is_address(address) and not is_host(address):
        yield Finding((*path, "address"), f"{address!r} is neither an address nor a name nor unix:///path")


def _has_listeners(spec: Data) -> Iterator[Finding]:
    if "egress" not in spec:
        yield Finding(
            ("spec",),
            "without egress istiod would open a listener at 127.0.0.1 for every service of the mesh",
            'for none, add to spec: egress: [{hosts: ["~/*"]}]',
        )


def _ingress(spec: Data) -> Iterator[Finding]:
    listeners = spec.get("ingress", ())
    for index, listener in enumerate(listeners):
        endpoint = listener.get("defaultEndpoint", "127.0.0.1:1")
        if not _is_application(endpoint):
            _, _, port = endpoint.rpartition(":")
            hint = f"0.0.0.0:{port} is the workload's own address" if port.isdecimal() else ""
            yield Finding(
                ("spec", "ingress", index, "defaultEndpoint"),
                f"{endpoint!r} is not 127.0.0.1:port, [::1]:port, 0.0.0.0:port or unix:///path",
                hint,
            )
    for index, number in duplicates(listener["port"]["number"] for listener in listeners):
        yield Finding(("spec", "ingress", index, "port"), f"there is a listener on port {number} already")


def _is_application(endpoint: str) -> bool:
    if endpoint.startswith(_UNIX):
        return endpoint.removeprefix(_UNIX).startswith("/")
    host, _, port = endpoint.rpartition(":")
    return host in _OWN_HOSTS and port.isdecimal() and 0 < int(port) < 65536


def _egress(spec: Data) -> Iterator[Finding]:
    listeners = spec.get("egress", ())
    for index, listener in enumerate(listeners):
        path = ("spec", "egress", index)
        for number, host in enumerate(listener["hosts"]):
            yield from _egress_host(host, (*path, "hosts", number))
        if "port" not in listener and not all(host in _NOWHERE for host in listener["hosts"]):
            yield Finding(path, "without a port istiod would listen at every service's port", "name port and bind")
        if "port" not in listener and index < len(listeners) - 1:
            yield Finding(path, "only the last listener may have no port")
    numbers = [listener["port"]["number"] if "port" in listener else -index for index, listener in enumerate(listeners)]
    for index, number in duplicates(numbers):
        yield Finding(("spec", "egress", index, "port"), f"there is a listener on port {number} already")


def _egress_host(text: str, path: Path) -> Iterator[Finding]:
    namespace, slash, host = text.partition("/")
    right_namespace = namespace in ("*", ".", "~") or is_label(namespace)
    if not slash or not right_namespace or not is_host(host):
        yield Finding(path, f"{text!r} is not namespace/host", "./* is everything in the Sidecar's namespace")


GATEWAY = (_servers,)
SERVICE_ENTRY = (_service_hosts, _service_ports, _service_endpoints, _service_addresses)
WORKLOAD_ENTRY = (_workload,)


def _pools(spec: Data) -> Iterator[Finding]:
    yield from pool(spec.get("inboundConnectionPool"), ("spec", "inboundConnectionPool"))
    for index, listener in enumerate(spec.get("ingress", ())):
        yield from pool(listener.get("connectionPool"), ("spec", "ingress", index, "connectionPool"))


SIDECAR = (_has_listeners, _ingress, _egress, _pools)
