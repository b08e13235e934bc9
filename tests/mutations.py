#!/usr/bin/env python3
"""mutations.py [--build DIR] [--work DIR] [--only NAME...] [--again] [--check] [--table]

Makes one error at a time in a copy of src/ and shows which test detects it: a missing branch, a sign, a factor of 1.1.
An error that no test detects has SURVIVED: a test is missing.

Run it by hand, or weekly, after `cmake --build --preset dev`. Only what an error affects is compiled: the changed .cpp file,
or the one kernel (at -O1) or test file that includes the changed header. The new object comes before the library of the
build folder on the linker's command line and replaces the old one. Results are kept in DIR/results.json (default: in the
system's folder for temporary files), so that an interrupted run resumes; --again discards them. --table prints them as in
docs/contributing/mutations.md; --check only checks whether the list matches the code and the page.

mutation_list.py lists what is changed, what is compiled, and which tests are run (a first run checks that they pass with the
unchanged code). A text that is no longer in its function is STALE: the list must follow the code.
"""
import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutation_list import MUTATIONS  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
KERNEL_FOLDERS = {"datasets", "interactors", "line", "math", "parallel", "random", "transport"}  # of kernel_tests
TIMEOUT = 180  # [s]; the tests of a mutation take less than one minute


NOT_NAMES = {"if", "for", "while", "switch", "catch", "constexpr", "decltype", "requires", "noexcept"}
AFTER_PARAMETERS = re.compile(r"(\s|const\b|noexcept\b|override\b|->\s*[\w:<>&*, ]+|:\s*[A-Za-z_][^;{}]*(\{[^{}]*\}[^;{}]*)*)*")


def closing(text, opening):
    """Behind the bracket that closes the one at this place."""
    pair, depth = {"(": ")", "{": "}"}[text[opening]], 0
    for i in range(opening, len(text)):
        depth += (text[i] == text[opening]) - (text[i] == pair)
        if depth == 0:
            return i + 1
    return len(text)


def bodies(text, function):
    """Where the definitions of a function begin and end in a file."""
    for found in re.finditer(rf"\b{function}\s*\(", text):
        body = AFTER_PARAMETERS.match(text, closing(text, found.end() - 1)).end()
        if function not in NOT_NAMES and text[body:body + 1] == "{":
            yield body, closing(text, body)


def places(mutation, cache={}):
    """(file, begin, end) of the text that a mutation changes: one, if the list fits the code."""
    if not cache:
        for path in sorted((ROOT / "src/thor").rglob("*.[ch]pp")):
            cache[str(path.relative_to(ROOT))] = path.read_text()
    wanted = re.compile(r"\s+".join(re.escape(word) for word in mutation["old"].split()))
    found = set()
    for file, text in cache.items():
        for begin, end in bodies(text, mutation["function"]):
            found |= {(file, m.start(), m.end()) for m in wanted.finditer(text, begin, end)}
    return sorted(found)


class Build:
    """The build folder that a mutation starts from: how it compiles and links."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        self.commands = {}
        for e in entries:
            words = shlex.split(e["command"])
            self.commands[self.folder / words[words.index("-o") + 1]] = e
        self.cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (self.folder / "CMakeCache.txt").read_text(), re.M))

    def object_of(self, source, program=None):
        """Object of a source file; for a test file that is part of two programs, the one in `program`."""
        found = [o for o, e in self.commands.items()
                 if Path(e["file"]) == ROOT / source and (program is None or f"{program}.dir" in str(o))]
        if not found:
            sys.exit(f"mutations: {source} is not compiled in {self.folder}")
        return found[0]

    def kernel_object(self, kernel):
        """Objects of a kernel like LineProblem_Slab_double, for every instruction set."""
        found = sorted(o for o in self.commands if str(o).find(f"_{kernel}.dir") > 0 and "thor_kernel_" in str(o))
        if not found:
            sys.exit(f"mutations: no kernel {kernel} in {self.folder}")
        return found

    def compile(self, original, tree, target, less=False):
        """Compiles the source of an object from the changed tree."""
        entry = self.commands[original]
        arguments = shlex.split(entry["command"])
        out, skip = [], False
        for a in arguments:
            if skip:
                skip = False
            elif a == "-o":
                skip = True
            elif a in ("-include", "-Winvalid-pch", "-Werror"):
                skip = a == "-include"  # without the precompiled header, which has the unchanged code
            else:
                out.append(a.replace(str(ROOT / "src"), str(tree / "src")).replace(str(ROOT / "tests"), str(tree / "tests")))
        if less:
            out = ["-O1" if a == "-O3" else a for a in out]
        if "ccache" in out[0]:
            out = out[1:]
        subprocess.run(out + ["-w", "-o", str(target)], cwd=entry["directory"], check=True, capture_output=True, text=True)

    def link(self, objects, program):
        libraries = subprocess.run([self.cache["CMAKE_MAKE_PROGRAM"], "-t", "commands", "unit_tests"], cwd=self.folder, check=True,
                                   capture_output=True, text=True).stdout.splitlines()
        command = next(c for c in reversed(libraries) if " -o unit_tests" in c or "-o tests/unit_tests" in c)
        words = [w for w in shlex.split(command.split("&&")[1] if "&&" in command else command)]
        tail = [w for w in words[words.index("-o") + 2:]]
        subprocess.run([self.cache["CMAKE_CXX_COMPILER"], *map(str, objects), "-o", str(program), *tail], cwd=self.folder,
                       check=True, capture_output=True, text=True)


def program_of(test):
    kind, folder = Path(test).parts[1:3]
    if kind == "unit":
        return "kernel_tests" if folder in KERNEL_FOLDERS else "unit_tests"
    return f"{kind}_tests"


def run_tests(program, pattern):
    """None if all pass, otherwise the first that failed."""
    try:
        result = subprocess.run([str(program), f"--gtest_filter={pattern}", "--gtest_fail_fast"], capture_output=True, text=True,
                                timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"{pattern} (does not end)"
    failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", result.stdout, re.M)
    if result.returncode == 0:
        count = re.search(r"\[  PASSED  \] (\d+) test", result.stdout)
        if not count or int(count[1]) == 0:
            sys.exit(f"mutations: no test is called {pattern}")
        return None
    return failed[0] if failed else f"{pattern} (crashed, exit {result.returncode})"


def attempt(build, mutation, work, mutated):
    """Builds the tests of a mutation from the changed or the unchanged tree, and runs them."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "src", tree / "src")
    shutil.copytree(ROOT / "tests", tree / "tests", ignore=shutil.ignore_patterns("e2e", "fuzz"))
    (file, begin, end), = places(mutation)
    if mutated:
        text = (tree / file).read_text()
        (tree / file).write_text(text[:begin] + mutation["new"] + text[end:])
    objects = work / "objects"
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir()
    fresh, tests = [], []
    try:
        compiled = mutation.get("compile", [])
        for k, source in enumerate([file] if compiled == "source" else compiled):
            targets = [build.object_of(source)] if source.endswith(".cpp") else build.kernel_object(source)
            for j, original in enumerate(targets):
                fresh.append(objects / f"{k}_{j}.o")
                build.compile(original, tree, fresh[-1], less=not source.endswith(".cpp"))
        for k, test in enumerate(mutation["tests"]):
            original = build.object_of(test, program_of(test))
            if mutation.get("header"):  # the test itself includes the changed file
                tests.append(objects / f"test_{k}.o")
                build.compile(original, tree, tests[-1])
            else:
                tests.append(original)
        if any("physics" in t for t in mutation["tests"]):
            tests.append(build.object_of("tests/oracle/oracle.cpp"))
        build.link(tests + fresh, work / "program")
    except subprocess.CalledProcessError as e:
        return "the compiler", (e.stderr or "")[-2000:]
    return run_tests(work / "program", mutation["filter"]), ""


def table(mutations, results):
    lines = ["| function | error | detected by |", "|---|---|---|"]
    for m in mutations:
        r = results.get(m["name"])
        if r:
            lines.append(f"| `{m['function']}` | {m['what']} | {r['killed_by'] or '**SURVIVED**'} |")
    return "\n".join(lines)


def check(mutations):
    page, bad = (ROOT / "docs/contributing/mutations.md").read_text(), 0
    for m in mutations:
        count = len(places(m))
        faults = [] if count == 1 else [f"its text is {count} times in {m['function']}()"]
        faults += [] if f"| {m['what']} |" in page else ["it is not in docs/contributing/mutations.md"]
        faults += [f"there is no {t}" for t in m["tests"] if not (ROOT / t).exists()]
        bad += bool(faults)
        for fault in faults:
            print(f"{m['name']}: {fault}")
    print(f"mutations: {len(mutations)} in the list, {bad} do not fit")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1], usage=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "thor_mutations")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    mutations = MUTATIONS
    if options.check:
        return check(mutations)
    options.work.mkdir(parents=True, exist_ok=True)
    store = options.work / "results.json"
    results = json.loads(store.read_text()) if store.exists() and not options.again else {}
    if options.table:
        print(table(mutations, results))
        return 0
    build = Build(options.build)
    passed = results.setdefault("unchanged", [])
    survived = 0
    for m in mutations:
        if len(places(m)) != 1:
            print(f"{m['name']:32} STALE: its text is not once in {m['function']}()", flush=True)
            survived += 1
            continue
        if options.only and m["name"] not in options.only or m["name"] in results and not options.only:
            continue
        key = " ".join([m["filter"], *m["tests"]])
        if key not in passed:
            failed = run_unchanged(build, m, options.work)
            if failed:
                print(f"{m['name']:32} its tests fail in the code as it is: {failed}", flush=True)
                survived += 1
                continue
            passed.append(key)
        started = time.time()
        killed, note = attempt(build, m, options.work, True)
        if killed == "the compiler":  # an error in the list
            print(f"{m['name']:32} DOES NOT COMPILE:\n{note}", flush=True)
            survived += 1
            continue
        results[m["name"]] = {"killed_by": killed, "seconds": round(time.time() - started)}
        store.write_text(json.dumps(results, indent=1))
        survived += killed is None
        print(f"{m['name']:32} {killed or 'SURVIVED'}   ({results[m['name']]['seconds']} s)", flush=True)
    return 1 if survived else 0


def run_unchanged(build, m, work):
    """Checks that the unchanged program in the build folder passes."""
    for name in {program_of(t) for t in m["tests"]}:
        failed = run_tests(build.folder / "tests" / name, m["filter"])
        if failed:
            return failed
    return None


if __name__ == "__main__":
    sys.exit(main())
