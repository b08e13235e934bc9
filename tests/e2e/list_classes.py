"""The classes of a file of tests, for CMake: each becomes a test of its own, so that long files run in parallel.

    python3 tests/e2e/list_classes.py FILE    prints their names, separated by semicolons
"""

import ast
import sys
from pathlib import Path


def has_tests(node):
    return isinstance(node, ast.ClassDef) and any(
        isinstance(member, ast.FunctionDef) and member.name.startswith("test") for member in node.body)


print(";".join(node.name for node in ast.parse(Path(sys.argv[1]).read_text()).body if has_tests(node)), end="")
