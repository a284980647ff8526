"""Who listens on a taken address: an Envoy of this mesh, or another program?

An Envoy that drains, or that was told a moment ago to give an address up, still has it for a while; the mesh may take
that back. Read from /proc, where Linux says which process has which socket.
"""

import ipaddress
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

Address = tuple[str, int]
PROC = Path("/proc")
ANY = ("0.0.0.0", "::")  # noqa: S104
LISTENING = "0A"
_SOCKET = re.compile(r"socket:\[(\d+)\]")


def is_own(address: Address, asked: Collection[Address]) -> bool:
    """Do only children of this process listen there, on addresses that the mesh `asked` for?"""
    in_the_way = {(place, inode) for place, inode in listeners() if overlap(place, address)}
    if not in_the_way or not {place for place, _ in in_the_way} <= set(asked):
        return False
    return {inode for _, inode in in_the_way} <= set(sockets_of_children(os.getpid()))


def overlap(left: Address, right: Address) -> bool:
    return left[1] == right[1] and (left[0] == right[0] or left[0] in ANY or right[0] in ANY)


def listeners() -> Iterator[tuple[Address, str]]:
    """Every address that somebody listens on, with the inode of the socket."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (PROC / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTENING:
                    yield address_of_hex(fields[1]), fields[9]


def address_of_hex(text: str) -> Address:
    """Example: "0B00007F:C38D" is ("127.0.0.11", 50061)."""
    host, _, port = text.partition(":")
    words = [bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8)]
    return str(ipaddress.ip_address(b"".join(words))), int(port, 16)


def sockets_of_children(pid: int) -> Iterator[str]:
    """Inodes of the sockets of all processes below `pid`."""
    parents = dict(parents_of_all())
    for child in parents:
        if pid in above(child, parents):
            with suppress(OSError):
                for descriptor in os.scandir(PROC / str(child) / "fd"):
                    with suppress(OSError):
                        if found := _SOCKET.fullmatch(os.readlink(descriptor)):
                            yield found.group(1)


def above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid := parents.get(pid, 0):
        yield pid


def parents_of_all() -> Iterator[tuple[int, int]]:
    """Each process with its parent."""
    for entry in os.listdir(PROC):
        if entry.isdigit():
            with suppress(OSError):
                yield int(entry), int((PROC / entry / "stat").read_text().rpartition(")")[2].split()[1])
