"""Does a new set of protobuf descriptors break a client of the old one?"""

from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)


def breaking_changes(old: FileDescriptorSet, new: FileDescriptorSet) -> list[str]:
    """One sentence a change that an old client would notice; empty when there is none."""
    return sorted([*_messages(old, new), *_enums(old, new), *_methods(old, new)])


def _messages(old: FileDescriptorSet, new: FileDescriptorSet) -> Iterator[str]:
    now = dict(_all_messages(new))
    for name, message in _all_messages(old):
        if name not in now:
            yield f"message {name} is gone"
            continue
        fields = {field.number: field for field in now[name].field}
        reserved = [range(r.start, r.end) for r in now[name].reserved_range]
        for field in message.field:
            yield from _field(name, field, fields.get(field.number), any(field.number in r for r in reserved))


def _field(message: str, old: FieldDescriptorProto, new: FieldDescriptorProto | None, reserved: bool) -> Iterator[str]:
    where = f"{message}.{old.name} = {old.number}"
    if new is None:
        if not reserved:
            yield f"{where} is gone and its number is not reserved"
        return
    if new.name != old.name:
        yield f"{where} is now called {new.name}"
    if (new.type, new.type_name, new.label) != (old.type, old.type_name, old.label):
        yield f"{where} has another type"


def _enums(old: FileDescriptorSet, new: FileDescriptorSet) -> Iterator[str]:
    now = {name: {v.number: v.name for v in enum.value} for name, enum in _all_enums(new)}
    for name, enum in _all_enums(old):
        for value in enum.value:
            if now.get(name, {}).get(value.number) != value.name:
                yield f"enum {name}: {value.name} = {value.number} is gone or renamed"


def _methods(old: FileDescriptorSet, new: FileDescriptorSet) -> Iterator[str]:
    now = dict(_all_methods(new))
    for name, method in _all_methods(old):
        if name not in now:
            yield f"method {name} is gone"
        elif _signature(now[name]) != _signature(method):
            yield f"method {name} has another signature"


def _signature(method: MethodDescriptorProto) -> tuple[str, str, bool, bool]:
    return method.input_type, method.output_type, method.client_streaming, method.server_streaming


def _all_messages(files: FileDescriptorSet) -> Iterator[tuple[str, DescriptorProto]]:
    for file in files.file:
        stack = [(file.package, message) for message in file.message_type]
        while stack:
            prefix, message = stack.pop()
            name = f"{prefix}.{message.name}"
            yield name, message
            stack += [(name, nested) for nested in message.nested_type]


def _all_enums(files: FileDescriptorSet) -> Iterator[tuple[str, EnumDescriptorProto]]:
    for file in files.file:
        for enum in file.enum_type:
            yield f"{file.package}.{enum.name}", enum
    for name, message in _all_messages(files):
        for enum in message.enum_type:
            yield f"{name}.{enum.name}", enum


def _all_methods(files: FileDescriptorSet) -> Iterator[tuple[str, MethodDescriptorProto]]:
    for file in files.file:
        for service in file.service:
            for method in service.method:
                yield f"{file.package}.{service.name}/{method.name}", method
