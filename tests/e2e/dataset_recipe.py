"""A type of dataset is one file, one entry of a list, one test; a geometry is one header and one entry.

    python3 tests/e2e/dataset_recipe.py ROOT

Every type in datasets/types.list has its own source and is tested; no other file of the sources names it. Every geometry in
transport/problems.list has a kernel for a single line, and nothing outside datasets/ asks which geometry a run has. The check is tried on files that break it.
"""

import re
import sys
from pathlib import Path

def entries(path):
    return [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def mentions(files, types):
    """Files that name a type though they are not its own."""
    wrong = []
    for path, text in files.items():
        for name in types:
            if path != f"datasets/{name}.cpp" and re.search(rf'type(\(| == | != )"{name}"|\b{name}_type\b', text):
                wrong.append(f"{path} names the type {name}")
    return wrong


def asks(files, geometries):
    """Files outside datasets/ that ask which geometry there is."""
    wrong = []
    for path, text in files.items():
        if path.startswith("datasets/"):
            continue
        for name in geometries:
            if re.search(rf"(is_same_v|holds_alternative|get_if|get)<[^;]*\b{name}<", text):
                wrong.append(f"{path} asks whether the dataset is a {name}")
    return wrong


def main():
    root = Path(sys.argv[1])
    source = root / "src/thor"
    files = {str(path.relative_to(source)): path.read_text() for path in source.rglob("*.[chi]*pp")}
    files.update({f"apps/{path.name}": path.read_text() for path in (root / "apps").glob("*.[ch]pp")})
    types = [words[0] for words in entries(source / "datasets/types.list")]
    geometries = entries(source / "transport/problems.list")
    names = [words[0] for words in geometries]
    wrong = mentions(files, types) + asks(files, names)
    tests = "".join(path.read_text() for path in (root / "tests").rglob("*_test.cpp"))
    for name in types:
        if f"const DatasetType {name}_type{{" not in files.get(f"datasets/{name}.cpp", ""):
            wrong.append(f"datasets/{name}.cpp has no {name}_type")
        if f"type: {name}" not in tests:
            wrong.append(f"no test has a dataset of type {name}")
    for name, header, *problems in geometries:
        if not (root / "src" / header).exists():
            wrong.append(f"{name}: there is no {header}")
        if "LineProblem" not in problems:
            wrong.append(f"{name} has no kernel for a single line")
    if len(types) < 4 or len(geometries) < 4:
        wrong.append("the lists were not read")
    if not mentions({"drivers/a.cpp": 'config.type == "cube"'}, types) or not asks(
        {"drivers/a.cpp": "std::holds_alternative<Slab<double>>(medium.dataset)"}, names
    ):
        wrong.append("a file that breaks the rule is not seen")
    print("\n".join(wrong) or f"{len(types)} types and {len(geometries)} geometries, each in files of its own")
    return 1 if wrong else 0


sys.exit(main())
