import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CacheLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_LEVEL_UNSPECIFIED: _ClassVar[CacheLevel]
    CACHE_LEVEL_LOCAL: _ClassVar[CacheLevel]
    CACHE_LEVEL_SHARED: _ClassVar[CacheLevel]
CACHE_LEVEL_UNSPECIFIED: CacheLevel
CACHE_LEVEL_LOCAL: CacheLevel
CACHE_LEVEL_SHARED: CacheLevel

class CacheKey(_message.Message):
    __slots__ = ("tenant", "source_language_code", "target_language_code", "domain", "mime_type", "model", "content")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    source_language_code: str
    target_language_code: str
    domain: str
    mime_type: str
    model: str
    content: str
    def __init__(self, tenant: _Optional[str] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., domain: _Optional[str] = ..., mime_type: _Optional[str] = ..., model: _Optional[str] = ..., content: _Optional[str] = ...) -> None: ...

class BatchLookupRequest(_message.Message):
    __slots__ = ("keys",)
    KEYS_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[CacheKey]
    def __init__(self, keys: _Optional[_Iterable[_Union[CacheKey, _Mapping]]] = ...) -> None: ...

class BatchLookupResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[LookupResult]
    def __init__(self, results: _Optional[_Iterable[_Union[LookupResult, _Mapping]]] = ...) -> None: ...

class LookupResult(_message.Message):
    __slots__ = ("level", "value")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    level: CacheLevel
    value: CachedTranslation
    def __init__(self, level: _Optional[_Union[CacheLevel, str]] = ..., value: _Optional[_Union[CachedTranslation, _Mapping]] = ...) -> None: ...

class CachedTranslation(_message.Message):
    __slots__ = ("translated_text", "unknown_ratio")
    TRANSLATED_TEXT_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_RATIO_FIELD_NUMBER: _ClassVar[int]
    translated_text: str
    unknown_ratio: float
    def __init__(self, translated_text: _Optional[str] = ..., unknown_ratio: _Optional[float] = ...) -> None: ...

class StoreEntry(_message.Message):
    __slots__ = ("key", "value", "ttl")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    key: CacheKey
    value: CachedTranslation
    ttl: _duration_pb2.Duration
    def __init__(self, key: _Optional[_Union[CacheKey, _Mapping]] = ..., value: _Optional[_Union[CachedTranslation, _Mapping]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class BatchStoreRequest(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[StoreEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[StoreEntry, _Mapping]]] = ...) -> None: ...

class BatchStoreResponse(_message.Message):
    __slots__ = ("stored", "shared")
    STORED_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    stored: int
    shared: bool
    def __init__(self, stored: _Optional[int] = ..., shared: _Optional[bool] = ...) -> None: ...
