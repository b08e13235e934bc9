"""An output is one file, one entry of the list, one test: nothing else knows a type of output by name.

    python3 tests/e2e/output_recipe.py ROOT

Every type in src/thor/outputs/list.hpp has its own header, source and test, and its place in docs/formats.md; no other
file of the sources names it. The check is tried on a file that does.
"""

import re
import sys
from pathlib import Path


def types_of(listing):
    """The outputs of the list: {"SpectrumOutput": "spectrum"}."""
    found = re.search(r"BinnedOutputs = OutputList<([^>]*)>", listing)
    names = [name.strip() for name in found.group(1).split(",")]
    return {name: name.removesuffix("Output").lower() for name in names}


def mentions(files, types):
    """Files that name a type though they are not its own."""
    wrong = []
    for path, text in files.items():
        for name, word in types.items():
            own = path in (f"outputs/{word}.hpp", f"outputs/{word}.cpp", "outputs/list.hpp")
            own = own or (path.startswith("drivers/sweep/") and word == "spectrum")  # a sweep keeps spectra
            stem = name.removesuffix("Output")
            if not own and re.search(rf"\b{stem}(Output|Plan)\b|outputs/{word}\.hpp", text):
                wrong.append(f"{path} knows {name}")
    return wrong


def main():
    root = Path(sys.argv[1])
    source = root / "src/thor"
    files = {str(path.relative_to(source)): path.read_text() for path in source.rglob("*.[chi]*pp")}
    files.update({f"apps/{path.name}": path.read_text() for path in (root / "apps").glob("*.[ch]pp")})
    types = types_of(files["outputs/list.hpp"])
    wrong = mentions(files, types)
    for name, word in types.items():
        for path in (f"src/thor/outputs/{word}.hpp", f"src/thor/outputs/{word}.cpp", f"tests/unit/outputs/{word}_test.cpp"):
            if not (root / path).exists():
                wrong.append(f"{name} has no {path}")
        group = re.search(r'"/(\w+)/" \+ name', files[f"outputs/{word}.cpp"]).group(1)
        if f"\n/{group}/NAME " not in (root / "docs/formats.md").read_text():
            wrong.append(f"docs/formats.md has no row of /{group}/NAME")
    if len(types) < 2:
        wrong.append("the list was not read")
    if not mentions({"outputs/tally.cpp": "std::get<HistogramOutput>(output)"}, types):
        wrong.append("a file that knows a type is not seen")
    print("\n".join(wrong) or f"{len(types)} types of output, each in a file of its own")
    return 1 if wrong else 0


sys.exit(main())
