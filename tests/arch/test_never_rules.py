"""The never-rules that import contracts can't say."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("control", "mesh", "services")
MAY_READ_THE_ENVIRONMENT = {Path("control/settings.py")}


def product_files(*roots: str) -> Iterator[Path]:
    for root in roots:
        yield from sorted((ROOT / root).rglob("*.py"))


def environment_reads(source: str) -> list[int]:
    """Lines that read the process environment."""
    nodes = ast.walk(ast.parse(source))
    named = (node for node in nodes if isinstance(node, ast.Attribute | ast.Name | ast.alias))
    return [node.lineno for node in named if _name(node) in ("environ", "getenv", "environb")]


def _name(node: ast.Attribute | ast.Name | ast.alias) -> str:
    match node:
        case ast.Attribute():
            return node.attr
        case ast.Name():
            return node.id
        case ast.alias():
            return node.name


def test_only_settings_read_the_environment() -> None:
    files = (path.relative_to(ROOT) for path in product_files(*PRODUCT))
    reads = {
        str(file): environment_reads((ROOT / file).read_text())
        for file in files
        if file not in MAY_READ_THE_ENVIRONMENT
    }
    assert {file: lines for file, lines in reads.items() if lines} == {}


def header_names(source: str) -> list[str]:
    """String constants that name a header of Envoy's, docstrings aside."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [
        value
        for value in constants
        if isinstance(value, str) and "x-envoy" in value.lower() and value not in docstrings
    ]


def test_the_controller_knows_no_header_of_envoys() -> None:
    found = {str(path.relative_to(ROOT)): header_names(path.read_text()) for path in product_files("control")}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import os\nx = os.environ['A']", [2]),
        ("from os import getenv", [1]),
        ("import os\nprint(os.getenv('A'))", [2]),
        ("environment = {}\nenvironment['A'] = 1", []),
    ],
    ids=["environ", "imported", "getenv", "a name that only looks like it"],
)
def test_reads_are_found_and_others_are_not(source: str, lines: list[int]) -> None:
    assert environment_reads(source) == lines


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("H = 'x-envoy-max-retries'", ["x-envoy-max-retries"]),
        ('"""Never touches x-envoy-attempt-count."""', []),
        ("H = 'x-request-id'", []),
    ],
    ids=["a header", "a docstring", "another header"],
)
def test_headers_are_found_and_others_are_not(source: str, names: list[str]) -> None:
    assert header_names(source) == names
