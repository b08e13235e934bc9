"""The modules of the package import each other in one direction, and only at the top of a file.

An import inside a function, or one for type checkers alone, hides a cycle from Python but not from the reader, so both
count here.
"""

import ast
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "thor"


def imported_modules(node, modules):
    """The modules of the package that an import statement names."""
    if isinstance(node, ast.Import):
        names = [name.name for name in node.names if name.name.split(".")[0] == "thor"]
        return {name.partition(".")[2] or "__init__" for name in names}
    if node.level == 0 and (node.module or "").split(".")[0] != "thor":
        return set()
    module = node.module or "" if node.level else node.module.partition(".")[2]
    if module:
        return {module}
    return {name.name if name.name in modules else "__init__" for name in node.names}


def read_imports(folder):
    """For each module the modules that it imports, and the imports that stand inside functions."""
    files = {path.stem: ast.parse(path.read_text()) for path in sorted(folder.glob("*.py"))}
    imports, inside = {}, []
    for module, tree in files.items():
        nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        imports[module] = set().union(*(imported_modules(node, files) for node in nodes)) & set(files)
        functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
        for node in {id(n): n for f in functions for n in ast.walk(f) if n in nodes}.values():
            inside += [f"{module}.py:{node.lineno}: {name}" for name in imported_modules(node, files)]
    return imports, inside


def find_cycle(imports):
    """Modules that import each other in a ring, the first one again at the end; empty if there are none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        path.append(module)
        for other in sorted(imports[module]):
            if cycle := visit(other):
                return cycle
        done.add(path.pop())
        return []

    return next((cycle for module in imports if (cycle := visit(module))), [])


class Imports(unittest.TestCase):
    def test_modules_import_in_one_direction(self):
        imports, inside = read_imports(PACKAGE)
        self.assertIn("result", imports["plot"])  # the graph is that of the package
        self.assertEqual(find_cycle(imports), [])
        self.assertEqual(inside, [])

    def test_hidden_cycles_are_found(self):
        for body in (
            "from . import b",
            "from .b import f",
            "import thor.b",
            "from thor.b import f",
            "def g():\n    from .b import f",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import f",
        ):
            with self.subTest(body), tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "__init__.py").write_text("from . import a")
                (Path(folder) / "a.py").write_text(body)
                (Path(folder) / "b.py").write_text("from .c import h")
                (Path(folder) / "c.py").write_text("import os\nfrom .a import g")
                imports, inside = read_imports(Path(folder))
                self.assertEqual(sorted(find_cycle(imports)[:-1]), ["a", "b", "c"])
                self.assertEqual(len(inside), body.startswith("def"))


if __name__ == "__main__":
    unittest.main()
