from google.rpc import status_pb2 as _status_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CacheResult(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_RESULT_UNSPECIFIED: _ClassVar[CacheResult]
    CACHE_RESULT_MISS: _ClassVar[CacheResult]
    CACHE_RESULT_HIT_LOCAL: _ClassVar[CacheResult]
    CACHE_RESULT_HIT_SHARED: _ClassVar[CacheResult]
    CACHE_RESULT_UNAVAILABLE: _ClassVar[CacheResult]
CACHE_RESULT_UNSPECIFIED: CacheResult
CACHE_RESULT_MISS: CacheResult
CACHE_RESULT_HIT_LOCAL: CacheResult
CACHE_RESULT_HIT_SHARED: CacheResult
CACHE_RESULT_UNAVAILABLE: CacheResult

class TranslateTextRequest(_message.Message):
    __slots__ = ("contents", "mime_type", "source_language_code", "target_language_code", "domain", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    contents: _containers.RepeatedScalarFieldContainer[str]
    mime_type: str
    source_language_code: str
    target_language_code: str
    domain: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, contents: _Optional[_Iterable[str]] = ..., mime_type: _Optional[str] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., domain: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class TranslateTextResponse(_message.Message):
    __slots__ = ("translations",)
    TRANSLATIONS_FIELD_NUMBER: _ClassVar[int]
    translations: _containers.RepeatedCompositeFieldContainer[Translation]
    def __init__(self, translations: _Optional[_Iterable[_Union[Translation, _Mapping]]] = ...) -> None: ...

class Translation(_message.Message):
    __slots__ = ("translated_text", "model", "detected_language_code", "status", "cache", "unknown_ratio", "served_by")
    TRANSLATED_TEXT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DETECTED_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_RATIO_FIELD_NUMBER: _ClassVar[int]
    SERVED_BY_FIELD_NUMBER: _ClassVar[int]
    translated_text: str
    model: str
    detected_language_code: str
    status: _status_pb2.Status
    cache: CacheResult
    unknown_ratio: float
    served_by: str
    def __init__(self, translated_text: _Optional[str] = ..., model: _Optional[str] = ..., detected_language_code: _Optional[str] = ..., status: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., cache: _Optional[_Union[CacheResult, str]] = ..., unknown_ratio: _Optional[float] = ..., served_by: _Optional[str] = ...) -> None: ...

class StreamTranslateRequest(_message.Message):
    __slots__ = ("content", "mime_type", "source_language_code", "target_language_code", "domain", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    content: str
    mime_type: str
    source_language_code: str
    target_language_code: str
    domain: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, content: _Optional[str] = ..., mime_type: _Optional[str] = ..., source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., domain: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class StreamTranslateResponse(_message.Message):
    __slots__ = ("segment", "final")
    SEGMENT_FIELD_NUMBER: _ClassVar[int]
    FINAL_FIELD_NUMBER: _ClassVar[int]
    segment: Segment
    final: Translation
    def __init__(self, segment: _Optional[_Union[Segment, _Mapping]] = ..., final: _Optional[_Union[Translation, _Mapping]] = ...) -> None: ...

class Segment(_message.Message):
    __slots__ = ("index", "source_text", "translated_text", "cache")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TEXT_FIELD_NUMBER: _ClassVar[int]
    TRANSLATED_TEXT_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    index: int
    source_text: str
    translated_text: str
    cache: CacheResult
    def __init__(self, index: _Optional[int] = ..., source_text: _Optional[str] = ..., translated_text: _Optional[str] = ..., cache: _Optional[_Union[CacheResult, str]] = ...) -> None: ...

class GetSupportedLanguagesRequest(_message.Message):
    __slots__ = ("source_language_code",)
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    source_language_code: str
    def __init__(self, source_language_code: _Optional[str] = ...) -> None: ...

class SupportedLanguages(_message.Message):
    __slots__ = ("languages", "pairs")
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    languages: _containers.RepeatedCompositeFieldContainer[SupportedLanguage]
    pairs: _containers.RepeatedCompositeFieldContainer[LanguagePair]
    def __init__(self, languages: _Optional[_Iterable[_Union[SupportedLanguage, _Mapping]]] = ..., pairs: _Optional[_Iterable[_Union[LanguagePair, _Mapping]]] = ...) -> None: ...

class SupportedLanguage(_message.Message):
    __slots__ = ("language_code", "display_name", "support_source", "support_target")
    LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_TARGET_FIELD_NUMBER: _ClassVar[int]
    language_code: str
    display_name: str
    support_source: bool
    support_target: bool
    def __init__(self, language_code: _Optional[str] = ..., display_name: _Optional[str] = ..., support_source: _Optional[bool] = ..., support_target: _Optional[bool] = ...) -> None: ...

class LanguagePair(_message.Message):
    __slots__ = ("source_language_code", "target_language_code", "via")
    SOURCE_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    source_language_code: str
    target_language_code: str
    via: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, source_language_code: _Optional[str] = ..., target_language_code: _Optional[str] = ..., via: _Optional[_Iterable[str]] = ...) -> None: ...
