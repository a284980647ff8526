"""The contracts: generated code is what the .proto files say, and no change breaks a client of the last release."""

import filecmp
import os
import subprocess
import sys
from pathlib import Path

import google.rpc.status_pb2 as google_status
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

from tests.support.proto_compat import breaking_changes

PROTOS = Path(__file__).parents[2] / "protos"
RELEASED = PROTOS / "released.binpb"


def compile_protos(out: Path) -> FileDescriptorSet:
    common = Path(google_status.__file__).parents[2]
    files = [str(path.relative_to(PROTOS)) for path in sorted(PROTOS.rglob("*.proto"))]
    target = out / "current.binpb"
    well_known = Path(protoc.__file__).parent / "_proto"
    includes = [f"-I{folder}" for folder in (PROTOS, common, well_known)]
    arguments = ["protoc", *includes, f"--descriptor_set_out={target}", *files]
    assert protoc.main(arguments) == 0
    return FileDescriptorSet.FromString(target.read_bytes())


def test_committed_code_is_what_the_protos_generate(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run([PROTOS / "generate.sh", str(tmp_path)], check=True, env=environment)
    generated = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.py*"))
    stale = [str(path) for path in generated if not filecmp.cmp(tmp_path / path, PROTOS / path, shallow=False)]
    assert generated
    assert stale == [], "run `make protos` and commit"


def test_nothing_breaks_a_client_of_the_last_release(tmp_path: Path) -> None:
    released = FileDescriptorSet.FromString(RELEASED.read_bytes())
    assert breaking_changes(released, compile_protos(tmp_path)) == []


def _changed(files: FileDescriptorSet, change: str) -> FileDescriptorSet:
    copy = FileDescriptorSet.FromString(files.SerializeToString())
    translation = next(file for file in copy.file if file.package == "tidegate.translation.v1")
    message = next(m for m in translation.message_type if m.name == "Translation")
    match change:
        case "field removed":
            del message.field[0]
        case "field removed, number reserved":
            number = message.field[0].number
            del message.field[0]
            message.reserved_range.add(start=number, end=number + 1)
        case "field renamed":
            message.field[0].name = "other"
        case "field retyped":
            message.field[0].type = message.field[0].TYPE_BYTES
        case "message removed":
            translation.message_type.remove(message)
        case "method removed":
            del translation.service[0].method[0]
        case "method streams":
            translation.service[0].method[0].server_streaming = True
        case "enum value renamed":
            translation.enum_type[0].value[0].name = "OTHER"
        case "field added":
            message.field.add(name="more", number=99, type=message.field[0].TYPE_STRING, label=1)
        case "nothing":
            pass
    return copy


@pytest.mark.parametrize(
    ("change", "notices"),
    [
        ("field removed", 1),
        ("field renamed", 1),
        ("field retyped", 1),
        ("message removed", 1),
        ("method removed", 1),
        ("method streams", 1),
        ("enum value renamed", 1),
        ("field removed, number reserved", 0),
        ("field added", 0),
        ("nothing", 0),
    ],
)
def test_breaking_changes_are_noticed_and_others_are_not(change: str, notices: int, tmp_path: Path) -> None:
    files = compile_protos(tmp_path)
    assert len(breaking_changes(files, _changed(files, change))) == notices
