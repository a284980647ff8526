"""How is an endpoint chosen, and which are left alone? Load balancer and outlier detection as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mesh.istio.duration import parse_duration


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie that a request is told apart by. `ttl` None: it is only read, never set."""

    name: str
    path: str
    ttl: timedelta | None
    attributes: tuple[tuple[str, str], ...]


HashKey = tuple[str, str] | Cookie | None
"""`("header", name)`, `("query", name)`, `("source-ip", "")` or a cookie."""


@dataclass(frozen=True, slots=True)
class ConsistentHash:
    """Equal keys go to the same endpoint. `maglev` and `ring` are sizes; None: the document doesn't name that kind."""

    key: HashKey
    maglev: int | None
    ring: int | None
    minimum_ring_size: int


@dataclass(frozen=True, slots=True)
class LocalitySetting:
    """How near and far endpoints share the work. None: the document is silent on it."""

    enabled: bool = True
    distribute: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] | None = None
    failover: tuple[tuple[str, str], ...] | None = None
    failover_priority: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Warmup:
    """How long a new endpoint takes to its full share. The older field has neither of the other two."""

    duration: timedelta
    aggression: float | None = None
    minimum_percent: float | None = None


@dataclass(frozen=True, slots=True)
class LoadBalancer:
    """How an endpoint is drawn."""

    simple: str = "UNSPECIFIED"
    warmup: Warmup | None = None
    consistent_hash: ConsistentHash | None = None
    locality: LocalitySetting | None = None


@dataclass(frozen=True, slots=True)
class OutlierDetection:
    """When an endpoint is left alone for a while. None: Envoy's own default."""

    consecutive_5xx: int | None
    consecutive_gateway: int | None
    split_local: bool
    consecutive_local: int
    interval: timedelta | None
    base_ejection_time: timedelta | None
    max_ejection_percent: int
    min_health_percent: int


def load_balancer(data: Mapping[str, Any]) -> LoadBalancer:
    """The view of a `loadBalancer` block."""
    setting, hashing = data.get("localityLbSetting"), data.get("consistentHash")
    return LoadBalancer(
        data.get("simple", "UNSPECIFIED"),
        _warmup(data),
        None if hashing is None else _consistent_hash(hashing),
        None if setting is None else _locality_setting(setting),
    )


def _warmup(data: Mapping[str, Any]) -> Warmup | None:
    if "warmup" in data:
        block = data["warmup"]
        aggression, least = float(block.get("aggression", 1.0)), float(block.get("minimumPercent", 10.0))
        return Warmup(parse_duration(block["duration"]), aggression, least)
    return Warmup(parse_duration(data["warmupDurationSecs"])) if "warmupDurationSecs" in data else None


def _consistent_hash(data: Mapping[str, Any]) -> ConsistentHash:
    return ConsistentHash(
        _hash_key(data),
        data["maglev"].get("tableSize", 0) if "maglev" in data else None,
        data["ringHash"].get("minimumRingSize", 0) if "ringHash" in data else None,
        data.get("minimumRingSize", 0),
    )


def _hash_key(data: Mapping[str, Any]) -> HashKey:
    if "httpHeaderName" in data:
        return "header", data["httpHeaderName"]
    if "httpCookie" in data:
        return _cookie(data["httpCookie"])
    if "httpQueryParameterName" in data:
        return "query", data["httpQueryParameterName"]
    return ("source-ip", "true" if data["useSourceIp"] else "") if "useSourceIp" in data else None


def _cookie(data: Mapping[str, Any]) -> Cookie:
    ttl = data.get("ttl")
    return Cookie(
        data["name"],
        data.get("path", ""),
        None if ttl is None else parse_duration(ttl),
        tuple((each["name"], each.get("value", "")) for each in data.get("attributes", ())),
    )


def _locality_setting(data: Mapping[str, Any]) -> LocalitySetting:
    distribute, failover, priority = data.get("distribute"), data.get("failover"), data.get("failoverPriority")
    return LocalitySetting(
        data.get("enabled", True),
        tuple((each["from"], tuple(sorted(each["to"].items()))) for each in distribute) if distribute else None,
        tuple((each["from"], each["to"]) for each in failover) if failover else None,
        tuple(priority) if priority else None,
    )


def outlier_detection(data: Mapping[str, Any]) -> OutlierDetection:
    """The view of an `outlierDetection` block."""
    return OutlierDetection(
        data.get("consecutive5xxErrors"),
        data.get("consecutiveGatewayErrors"),
        data.get("splitExternalLocalOriginErrors", False),
        data.get("consecutiveLocalOriginFailures", 0),
        _duration(data.get("interval")),
        _duration(data.get("baseEjectionTime")),
        data.get("maxEjectionPercent", 0),
        data.get("minHealthPercent", 0),
    )


def _duration(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)
