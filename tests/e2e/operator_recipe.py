"""An operator is a header, a source and one entry of the list: nothing else knows one that makes images by name.

    python3 tests/e2e/operator_recipe.py ROOT

`thor view` begins with a rendering and offers slices and projections, so its files may name them. The check is tried on a file that
knows an operator.
"""

import re
import sys
from pathlib import Path


def operators_of(listing):
    """Those of the list that make images: {"SliceOperator": "slice"}."""
    found = re.search(r"ImageOperators = OperatorList<([^>]*)>", listing)
    names = [name.strip().removeprefix("config::") for name in found.group(1).split(",")]
    return {name: name.removesuffix("Operator").lower() for name in names}


def mentions(files, operators):
    """Files that name an operator though they are not its own."""
    wrong = []
    for path, text in files.items():
        for name, word in operators.items():
            own = path in (f"operators/{word}.hpp", f"operators/{word}.cpp", "operators/list.hpp") or path.startswith("drivers/view")
            if not own and re.search(rf"\b{name}\b|operators/{word}\.hpp", text):
                wrong.append(f"{path} knows {name}")
    return wrong


def main():
    root = Path(sys.argv[1])
    source = root / "src/thor"
    files = {str(path.relative_to(source)): path.read_text() for path in source.rglob("*.[chi]*pp")}
    files.update({f"apps/{path.name}": path.read_text() for path in (root / "apps").glob("*.[ch]pp")})
    operators = operators_of(files["operators/list.hpp"])
    wrong = mentions(files, operators)
    for name, word in operators.items():
        for path in (f"operators/{word}.hpp", f"operators/{word}.cpp"):
            if name not in files.get(path, ""):
                wrong.append(f"{name} has no {path}")
    if len(operators) < 3:
        wrong.append("the list was not read")
    if not mentions({"drivers/rays/images.cpp": "std::get<config::SliceOperator>(op)"}, operators):
        wrong.append("a file that knows an operator is not seen")
    print("\n".join(wrong) or f"{len(operators)} operators on images, each in files of its own")
    return 1 if wrong else 0


sys.exit(main())
