from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DetectLanguageRequest(_message.Message):
    __slots__ = ("contents", "mime_type")
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    contents: _containers.RepeatedScalarFieldContainer[str]
    mime_type: str
    def __init__(self, contents: _Optional[_Iterable[str]] = ..., mime_type: _Optional[str] = ...) -> None: ...

class DetectLanguageResponse(_message.Message):
    __slots__ = ("detections",)
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    detections: _containers.RepeatedCompositeFieldContainer[Detection]
    def __init__(self, detections: _Optional[_Iterable[_Union[Detection, _Mapping]]] = ...) -> None: ...

class Detection(_message.Message):
    __slots__ = ("language_code", "confidence", "languages", "reliable")
    LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    RELIABLE_FIELD_NUMBER: _ClassVar[int]
    language_code: str
    confidence: float
    languages: _containers.RepeatedCompositeFieldContainer[DetectedLanguage]
    reliable: bool
    def __init__(self, language_code: _Optional[str] = ..., confidence: _Optional[float] = ..., languages: _Optional[_Iterable[_Union[DetectedLanguage, _Mapping]]] = ..., reliable: _Optional[bool] = ...) -> None: ...

class DetectedLanguage(_message.Message):
    __slots__ = ("language_code", "confidence")
    LANGUAGE_CODE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    language_code: str
    confidence: float
    def __init__(self, language_code: _Optional[str] = ..., confidence: _Optional[float] = ...) -> None: ...
