"""What does a resource say of the documents behind it? Metadata that dashboards and traces read."""

from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.google.protobuf import Struct, Value

from mesh.xds.translate.encode import make


def istio_metadata(**fields: str | bool) -> core.Metadata | None:
    """Istio's metadata with these fields; None without any."""
    if not fields:
        return None
    values = {name: _value(value) for name, value in fields.items()}
    return make(core.Metadata, filter_metadata={"istio": make(Struct, fields=values)})


def _value(value: str | bool) -> Value:
    return make(Value, bool_value=value) if isinstance(value, bool) else make(Value, string_value=value)
