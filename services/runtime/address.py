"""Where does a process listen, and whom does it call?

Two forms: `host:port` (port 0 lets the kernel choose) and `unix:/path`. IPv6 hosts stand in brackets.
"""

from dataclasses import dataclass

LAST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A host and a port; port 0 is "any free one"."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A socket in the file system."""

    path: str

    def __str__(self) -> str:
        return f"unix:{self.path}"


Address = TcpAddress | UnixAddress


def parse_address(text: str) -> Address:
    """The address that `text` names.

    Raises: ValueError with a sentence for the person who typed it.
    """
    if text.startswith("unix:"):
        return _unix(text)
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise ValueError(f"{text!r} is neither HOST:PORT nor unix:PATH")
    if not port.isascii() or not port.isdigit() or int(port) > LAST_PORT:
        raise ValueError(f"{port!r} is not a port (0 to {LAST_PORT})")
    return TcpAddress(host, int(port))


def _unix(text: str) -> UnixAddress:
    path = text.removeprefix("unix:")
    if not path or "\0" in path:
        raise ValueError(f"{text!r} names no socket path")
    return UnixAddress(path)
