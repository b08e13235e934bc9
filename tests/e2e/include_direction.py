#!/usr/bin/env python3
"""include_direction.py ROOT: a file includes only from its own layer or from below, folders do not include each
other in a cycle, and every folder has a layer; within drivers, sub-folders include only those that they may. It first
shows on synthetic trees that it finds violations."""

import re
import sys
import tempfile
from pathlib import Path

# Top to bottom; folders on one line are in the same layer. outputs are above transport: they receive its photons.
LAYERS = [
    ["apps"],
    ["drivers"],
    ["parallel"],
    ["outputs", "operators"],
    ["transport"],
    ["generators", "interactors", "gridding", "mock"],
    ["datasets", "emission"],
    ["distributions", "line"],
    ["random"],
    ["config", "io", "comm"],
    ["math"],
    ["core"],
]
# What the sub-folders of a folder may include of it beside themselves; "": what lies in the folder itself, for all.
WITHIN = {"drivers": {"": [], "mcrt": [""], "rays": [""], "view": ["", "rays"],
                      "sweep": ["", "mcrt"]}}
HEIGHT = {folder: -i for i, layer in enumerate(LAYERS) for folder in layer}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def includes(root):
    """(file, line number, its folder, the included one's folder, the included path) of each include of a file of ours."""
    for path in sorted([*root.glob("apps/**/*"), *root.glob("src/thor/**/*")]):
        if path.suffix not in (".hpp", ".cpp", ".cu", ".in"):
            continue
        parts = path.relative_to(root).parts
        folder = "apps" if parts[0] == "apps" else parts[2]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found[2].startswith("thor/"):
                yield path.relative_to(root), number, folder, found[2].split("/")[1], found[2]
            elif found and found[1] == '"' and folder != "apps":
                yield path.relative_to(root), number, folder, None, found[2]


def sub_folder(path):
    """Of a file src/thor/FOLDER/SUB/...; "" if it lies in the folder itself."""
    return path.split("/")[3] if path.count("/") > 3 else ""


def check_within(path, included, allowed):
    """What is wrong with an include of a file of the same folder, if anything."""
    above, below = sub_folder(path), sub_folder(f"src/{included}")
    for name in (above, below):
        if name not in allowed:
            return f"{name} is no known sub-folder"
    if above != below and below not in allowed[above]:
        return f"{above or 'what all sub-folders share'} must not include {below}"
    return None


def circles(graph):
    """Cycles of folders, each starting from its alphabetically first name."""

    def walk(way):
        for following in sorted(graph.get(way[-1], ())):
            if following == way[0]:
                yield way + [following]
            elif following > way[0] and following not in way:
                yield from walk(way + [following])

    for folder in sorted(graph):
        yield from walk([folder])


def check(root):
    """Violations, one per line."""
    wrong = [f"src/thor/{path.name}: in no layer of {Path(__file__).name}"
             for path in sorted(root.glob("src/thor/*")) if path.name not in HEIGHT]
    graph = {}
    for path, number, above, below, what in includes(root):
        if below is None:
            wrong.append(f'{path}:{number}: "{what}": write the path from src, "thor/..."')
        elif below not in HEIGHT or above not in HEIGHT:
            wrong.append(f"{path}:{number}: {what}: {above} or {below} is in no layer")
        elif HEIGHT[below] > HEIGHT[above]:
            wrong.append(f"{path}:{number}: {what}: {below} stands above {above}")
        elif below == above and (why := above in WITHIN and check_within(str(path), what, WITHIN[above])):
            wrong.append(f"{path}:{number}: {what}: in {above}, {why}")
        elif below != above:
            graph.setdefault(above, set()).add(below)
    return wrong + ["a circle: " + " -> ".join(way) for way in circles(graph)]


def self_test():
    cases = {
        "a fair include": ({"drivers/a.cpp": "core/b.hpp", "core/b.hpp": "core/c.hpp"}, None),
        "an upward include": ({"core/b.hpp": "drivers/a.hpp"}, "drivers stands above core"),
        "an upward include of a backend": ({"transport/b.hpp": "parallel/cpu/a.hpp"}, "parallel stands above transport"),
        "an unknown folder": ({"misc/b.hpp": "core/a.hpp"}, "in no layer"),
        "a circle": ({"io/a.hpp": "comm/b.hpp", "comm/b.hpp": "io/a.hpp"}, "a circle: comm -> io -> comm"),
        "a fair include of a sub-folder": (
            {"drivers/view/a.cpp": "drivers/rays/b.hpp", "drivers/rays/b.hpp": "drivers/c.hpp"}, None),
        "shared code that includes a driver": ({"drivers/a.hpp": "drivers/mcrt/b.hpp"}, "share must not include mcrt"),
        "a driver that includes the other": ({"drivers/rays/a.cpp": "drivers/mcrt/b.hpp"}, "rays must not include mcrt"),
        "an unknown sub-folder": ({"drivers/more/a.cpp": "drivers/b.hpp"}, "more is no known sub-folder"),
    }
    for name, (files, expected) in cases.items():
        with tempfile.TemporaryDirectory() as root:
            for path, included in files.items():
                file = Path(root, "src/thor", path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f'#pragma once\n#include <vector>\n#include "thor/{included}"\n')
            wrong = check(Path(root))
            if expected is None and wrong or expected is not None and not any(expected in line for line in wrong):
                sys.exit(f"include_direction: the check is broken: {name} gives {wrong}")


def main():
    self_test()
    root = Path(sys.argv[1])
    if len(list(includes(root))) < 50:
        sys.exit(f"include_direction: hardly any includes found in {root}")
    wrong = check(root)
    if wrong:
        sys.exit("\n".join(wrong))


main()
