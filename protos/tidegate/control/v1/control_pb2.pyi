from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Verb(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERB_UNSPECIFIED: _ClassVar[Verb]
    VERB_PROMOTE: _ClassVar[Verb]
    VERB_PROMOTE_FULL: _ClassVar[Verb]
    VERB_ROLLBACK: _ClassVar[Verb]
    VERB_PAUSE: _ClassVar[Verb]
    VERB_RESUME: _ClassVar[Verb]
    VERB_SUSPEND: _ClassVar[Verb]
    VERB_RETRY: _ClassVar[Verb]
VERB_UNSPECIFIED: Verb
VERB_PROMOTE: Verb
VERB_PROMOTE_FULL: Verb
VERB_ROLLBACK: Verb
VERB_PAUSE: Verb
VERB_RESUME: Verb
VERB_SUSPEND: Verb
VERB_RETRY: Verb

class ShiftName(_message.Message):
    __slots__ = ("namespace", "name")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    name: str
    def __init__(self, namespace: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class Shift(_message.Message):
    __slots__ = ("name", "document", "revision")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    document: bytes
    revision: int
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ..., document: _Optional[bytes] = ..., revision: _Optional[int] = ...) -> None: ...

class ListShiftsRequest(_message.Message):
    __slots__ = ("namespace",)
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    def __init__(self, namespace: _Optional[str] = ...) -> None: ...

class ListShiftsResponse(_message.Message):
    __slots__ = ("shifts",)
    SHIFTS_FIELD_NUMBER: _ClassVar[int]
    shifts: _containers.RepeatedCompositeFieldContainer[Shift]
    def __init__(self, shifts: _Optional[_Iterable[_Union[Shift, _Mapping]]] = ...) -> None: ...

class GetShiftRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ...) -> None: ...

class WatchShiftsRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ...) -> None: ...

class WatchShiftsResponse(_message.Message):
    __slots__ = ("shift", "deleted")
    SHIFT_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    shift: Shift
    deleted: bool
    def __init__(self, shift: _Optional[_Union[Shift, _Mapping]] = ..., deleted: _Optional[bool] = ...) -> None: ...

class ApplyShiftRequest(_message.Message):
    __slots__ = ("text", "source", "dry_run")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    text: bytes
    source: str
    dry_run: bool
    def __init__(self, text: _Optional[bytes] = ..., source: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class ApplyShiftResponse(_message.Message):
    __slots__ = ("shift", "outcome")
    SHIFT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    shift: Shift
    outcome: str
    def __init__(self, shift: _Optional[_Union[Shift, _Mapping]] = ..., outcome: _Optional[str] = ...) -> None: ...

class DeleteShiftRequest(_message.Message):
    __slots__ = ("name", "dry_run")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    dry_run: bool
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class DeleteShiftResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: str
    def __init__(self, outcome: _Optional[str] = ...) -> None: ...

class SendCommandRequest(_message.Message):
    __slots__ = ("name", "id", "verb", "expect_step", "actor", "reason", "dry_run")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    VERB_FIELD_NUMBER: _ClassVar[int]
    EXPECT_STEP_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    id: str
    verb: Verb
    expect_step: int
    actor: str
    reason: str
    dry_run: bool
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ..., id: _Optional[str] = ..., verb: _Optional[_Union[Verb, str]] = ..., expect_step: _Optional[int] = ..., actor: _Optional[str] = ..., reason: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class SendCommandResponse(_message.Message):
    __slots__ = ("outcome", "shift")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SHIFT_FIELD_NUMBER: _ClassVar[int]
    outcome: str
    shift: Shift
    def __init__(self, outcome: _Optional[str] = ..., shift: _Optional[_Union[Shift, _Mapping]] = ...) -> None: ...

class GetHistoryRequest(_message.Message):
    __slots__ = ("name", "limit")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    limit: int
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class GetHistoryResponse(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, entries: _Optional[_Iterable[bytes]] = ...) -> None: ...

class GetBaselineRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: ShiftName
    def __init__(self, name: _Optional[_Union[ShiftName, _Mapping]] = ...) -> None: ...

class GetBaselineResponse(_message.Message):
    __slots__ = ("baseline",)
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    baseline: bytes
    def __init__(self, baseline: _Optional[bytes] = ...) -> None: ...

class GetVersionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetVersionResponse(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: str
    def __init__(self, version: _Optional[str] = ...) -> None: ...
