from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DocumentName(_message.Message):
    __slots__ = ("kind", "namespace", "name")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: str
    namespace: str
    name: str
    def __init__(self, kind: _Optional[str] = ..., namespace: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("name", "text", "revision", "file", "line")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    name: DocumentName
    text: bytes
    revision: str
    file: str
    line: int
    def __init__(self, name: _Optional[_Union[DocumentName, _Mapping]] = ..., text: _Optional[bytes] = ..., revision: _Optional[str] = ..., file: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class GetDocumentsRequest(_message.Message):
    __slots__ = ("kinds",)
    KINDS_FIELD_NUMBER: _ClassVar[int]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kinds: _Optional[_Iterable[str]] = ...) -> None: ...

class GetDocumentsResponse(_message.Message):
    __slots__ = ("documents", "problems")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    problems: _containers.RepeatedCompositeFieldContainer[Problem]
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., problems: _Optional[_Iterable[_Union[Problem, _Mapping]]] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("file", "line", "column", "message", "hint")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    file: str
    line: int
    column: int
    message: str
    hint: str
    def __init__(self, file: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., message: _Optional[str] = ..., hint: _Optional[str] = ...) -> None: ...

class DestinationWeight(_message.Message):
    __slots__ = ("host", "subset", "port", "weight")
    HOST_FIELD_NUMBER: _ClassVar[int]
    SUBSET_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    host: str
    subset: str
    port: int
    weight: int
    def __init__(self, host: _Optional[str] = ..., subset: _Optional[str] = ..., port: _Optional[int] = ..., weight: _Optional[int] = ...) -> None: ...

class PatchWeightsRequest(_message.Message):
    __slots__ = ("name", "route_index", "route_name", "expected", "weights")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROUTE_INDEX_FIELD_NUMBER: _ClassVar[int]
    ROUTE_NAME_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    name: DocumentName
    route_index: int
    route_name: str
    expected: _containers.RepeatedCompositeFieldContainer[DestinationWeight]
    weights: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[_Union[DocumentName, _Mapping]] = ..., route_index: _Optional[int] = ..., route_name: _Optional[str] = ..., expected: _Optional[_Iterable[_Union[DestinationWeight, _Mapping]]] = ..., weights: _Optional[_Iterable[int]] = ...) -> None: ...

class PatchWeightsResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: str
    def __init__(self, revision: _Optional[str] = ...) -> None: ...

class WatchRevisionRequest(_message.Message):
    __slots__ = ("name", "revision")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    name: DocumentName
    revision: str
    def __init__(self, name: _Optional[_Union[DocumentName, _Mapping]] = ..., revision: _Optional[str] = ...) -> None: ...

class RevisionStatus(_message.Message):
    __slots__ = ("current", "holders", "acknowledged", "rejections")
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    HOLDERS_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    REJECTIONS_FIELD_NUMBER: _ClassVar[int]
    current: bool
    holders: _containers.RepeatedScalarFieldContainer[str]
    acknowledged: _containers.RepeatedScalarFieldContainer[str]
    rejections: _containers.RepeatedCompositeFieldContainer[Rejection]
    def __init__(self, current: _Optional[bool] = ..., holders: _Optional[_Iterable[str]] = ..., acknowledged: _Optional[_Iterable[str]] = ..., rejections: _Optional[_Iterable[_Union[Rejection, _Mapping]]] = ...) -> None: ...

class Rejection(_message.Message):
    __slots__ = ("proxy", "message")
    PROXY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    proxy: str
    message: str
    def __init__(self, proxy: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class WatchDocumentsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DocumentsChanged(_message.Message):
    __slots__ = ("changed", "problems")
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    changed: _containers.RepeatedCompositeFieldContainer[DocumentName]
    problems: _containers.RepeatedCompositeFieldContainer[Problem]
    def __init__(self, changed: _Optional[_Iterable[_Union[DocumentName, _Mapping]]] = ..., problems: _Optional[_Iterable[_Union[Problem, _Mapping]]] = ...) -> None: ...

class ListProxiesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListProxiesResponse(_message.Message):
    __slots__ = ("proxies",)
    PROXIES_FIELD_NUMBER: _ClassVar[int]
    proxies: _containers.RepeatedCompositeFieldContainer[Proxy]
    def __init__(self, proxies: _Optional[_Iterable[_Union[Proxy, _Mapping]]] = ...) -> None: ...

class Proxy(_message.Message):
    __slots__ = ("id", "admin", "incarnation", "connected", "holds")
    ID_FIELD_NUMBER: _ClassVar[int]
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    id: str
    admin: str
    incarnation: int
    connected: bool
    holds: _containers.RepeatedCompositeFieldContainer[DocumentName]
    def __init__(self, id: _Optional[str] = ..., admin: _Optional[str] = ..., incarnation: _Optional[int] = ..., connected: _Optional[bool] = ..., holds: _Optional[_Iterable[_Union[DocumentName, _Mapping]]] = ...) -> None: ...

class CompareVersionsRequest(_message.Message):
    __slots__ = ("host", "versions")
    HOST_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    host: str
    versions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, host: _Optional[str] = ..., versions: _Optional[_Iterable[str]] = ...) -> None: ...

class CompareVersionsResponse(_message.Message):
    __slots__ = ("differences",)
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    differences: _containers.RepeatedCompositeFieldContainer[Difference]
    def __init__(self, differences: _Optional[_Iterable[_Union[Difference, _Mapping]]] = ...) -> None: ...

class Difference(_message.Message):
    __slots__ = ("field", "values")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    field: str
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, field: _Optional[str] = ..., values: _Optional[_Iterable[str]] = ...) -> None: ...
