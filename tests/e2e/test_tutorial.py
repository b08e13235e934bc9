"""docs/tutorial.md shows what a reader gets: its commands are run one after the other and must print what the page says. The
commands of the README are run too, with fewer photons.

    /usr/bin/python3 tests/e2e/test_tutorial.py --thor build/release/thor [--update] [unittest arguments]

--update replaces the numbers on the page by the current ones; other changes must be made by hand. So must its two figures:
docs/figures/tutorial_shell.png and tutorial_dust.png are its shell.png and compare.png. In the output shown, `...` stands for
anything: times, rates, names of machines. Photons are the same on every processor with fused multiply-add, so counts are
compared exactly. Takes about 15 s on one core.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import sphere  # noqa: E402
from support import Case, DONE, ROOT, USAGE, command_line, main, skip_loudly, thor  # noqa: E402

PAGE = ROOT / "docs/tutorial.md"
FENCE = re.compile(r"```(\w+)\n(.*?)\n```", re.DOTALL)
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
PROGRESS = re.compile(r" *\d+\.\d %  \d+ of \d+ photons")
UPDATE = False
BAD = "--set dataset.dust.tua=1"  # the error that the page makes on purpose


def blocks(text):
    """The blocks of a page, in order: fenced ones with their language, indented ones as "indented"."""
    found = []
    for part in re.split(r"(?s)(```\w+\n.*?\n```)", text):
        fence = FENCE.fullmatch(part)
        if fence:
            found.append(fence.groups())
            continue
        for block in re.findall(r"(?:(?<=\n\n)|(?<=\A))((?:    \S.*(?:\n|\Z))+)", part):
            found.append(("indented", re.sub(r"(?m)^    ", "", block).strip("\n")))
    return found


def matches(expected, got):
    """Whether lines match the expected ones, where a line `...` stands for any lines, and `...` in a line for any text
    with the blanks around it."""
    pattern = ""
    for line in expected:
        if line.strip() in ("...", "#   ..."):
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in re.split(r"\s*\.\.\.\s*", line)) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def renewed(expected, got):
    """The expected lines with the actual numbers, in the same order; a line without a counterpart stays."""
    lines, left = [], list(got)
    for line in expected:
        tokens = re.split(rf"({NUMBER}|\.\.\.)", line)
        pattern = ""
        for i, token in enumerate(tokens):
            if i % 2 == 0:
                pattern += re.sub(r"(?:\\ )+", r"\\s*", re.escape(token))
            else:
                pattern += "(.*?)" if token == "..." else f"({NUMBER})"
        found = next((match for match in (re.fullmatch(pattern, text) for text in left) if match), None)
        if found and line.strip() != "...":
            left = left[left.index(found[0]) + 1 :]
            numbers = iter(found.groups())
            new = [next(numbers) if i % 2 else token for i, token in enumerate(tokens)]
            line = "".join("..." if tokens[i] == "..." else token for i, token in enumerate(new))
        lines.append(line)
    return lines


def commands_in(text):
    """The commands of an indented block, without comments and settings."""
    lines = (re.sub(r"\s{2,}#.*", "", line) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("export ")]


class Shell(Case):
    """A folder with the commands that the pages expect on their PATH."""

    def setUp(self):
        super().setUp()
        if not shutil.which("bash"):
            skip_loudly(self, "there is no bash")
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            skip_loudly(self, str(error))
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "thor").symlink_to(Path(command_line()[0]).resolve())
        python = programs / "python3"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "python"),
                            "MPLBACKEND": "Agg", "NO_COLOR": "1"}

    def shell(self, command):
        command = command.replace("/usr/bin/python3", "python3")  # the one that has numpy
        return subprocess.run(["bash", "-c", command], cwd=self.work, env=self.environment, text=True, timeout=200,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Tutorial(Shell):
    def needs_fused_multiply_add(self):
        if re.search(r"x86-64-v2.*\(default\)", thor("devices").stdout):
            skip_loudly(self, "this processor has no fused multiply-add: its photons differ")

    def test_the_page(self):
        self.needs_fused_multiply_add()
        commands = 0
        for kind, text in blocks(PAGE.read_text(encoding="utf-8")):
            if kind == "python":
                (self.work / "compare.py").write_text(text, encoding="utf-8")
            elif kind == "indented" and "mkdir" not in text:
                for command in commands_in(text):
                    done = self.shell(command)
                    self.assertEqual(done.returncode, DONE, done.stdout)
                    commands += 1
            elif kind == "console":
                first, *expected = text.splitlines()
                self.assertTrue(first.startswith("$ "), first)
                done = self.shell(first[2:])
                self.assertEqual(done.returncode, USAGE if BAD in first else DONE, done.stdout)
                got = [line for line in done.stdout.splitlines() if not PROGRESS.match(line)]
                if UPDATE and not matches(expected, got):
                    new = renewed(expected, got)
                    page = PAGE.read_text(encoding="utf-8")
                    PAGE.write_text(page.replace("\n".join([first, *expected]), "\n".join([first, *new])), encoding="utf-8")
                    expected = new
                if not matches(expected, got):
                    shown = "\n".join(difflib.unified_diff(expected, got, "docs/tutorial.md", "thor", lineterm=""))
                    self.fail(f"{first}\n{shown}")
                commands += 1
        self.assertGreaterEqual(commands, 7, "it has run hardly anything")
        for command in re.findall(r"`(thor [^`]+)`", PAGE.read_text(encoding="utf-8").split("## What next")[1]):
            done = self.shell(command)
            self.assertEqual(done.returncode, DONE, f"{command}\n{done.stdout}")
        for figure in ("shell.png", "compare.png"):
            self.assertGreater((self.work / figure).stat().st_size, 10_000)

    def test_the_configuration_is_the_one_that_is_written(self):
        try:
            import yaml
        except ImportError as error:
            skip_loudly(self, str(error))
        self.assertEqual(self.shell("thor init shell").returncode, DONE)
        written = yaml.safe_load((self.work / "shell.yaml").read_text(encoding="utf-8"))
        (shown,) = [yaml.safe_load(text) for kind, text in blocks(PAGE.read_text(encoding="utf-8")) if kind == "yaml"]
        self.assertEqual(set(shown), {"line", "dataset", "generators"})
        for key, value in shown.items():
            self.assertEqual(written[key], value)

    def test_the_other_templates_are_named(self):
        text = PAGE.read_text(encoding="utf-8")
        named = re.search(r"`thor init` without a name lists the others: ([^.]*)\.", text)[1]
        listed = [line.split()[0] for line in thor("init").stdout.splitlines()]
        self.assertEqual(set(re.findall(r"`(\w+)`", named)) | {"shell"}, set(listed))

    def test_a_page_that_has_drifted_is_found(self):
        got = ["thor: 5000 photons, 1.4e+04 scatterings each, 2e+06 scatterings/s; escaped 3709; wrote shell.h5", "more"]
        for expected in (got, ["..."], ["thor: 5000 ... escaped 3709; wrote shell.h5", "..."], ["...", "more"]):
            self.assertTrue(matches(expected, got), expected)
        for expected in ([], got[:1], [got[0], "more", "..", ], ["thor: 5000 ... escaped 3710; wrote shell.h5", "..."], ["more"]):
            self.assertFalse(matches(expected, got), expected)
        old = ["#  tau0   5.9e+05   of it", "...", "a 3 ... 4709, absorbed 1; wrote b.h5", "gone 3", "dust 1: 7", "dust 2: 8"]
        new = ["#  tau0   6.1e+05      of it", "x", "a 12 rate 3e7 escaped 47, absorbed 22; wrote b.h5", "left 3", "dust 1: 9", "dust 2: 10"]
        now = ["#  tau0   6.1e+05   of it", "...", "a 12 ... 47, absorbed 22; wrote b.h5", "gone 3", "dust 1: 9", "dust 2: 10"]
        self.assertEqual(renewed(old, new), now)
        text = "# A\n\n    indented one\n    two   # why\n\ntext\n\n```console\n$ a\nb\n```\n    no block\n"
        self.assertEqual(blocks(text), [("indented", "indented one\ntwo   # why"), ("console", "$ a\nb")])
        self.assertEqual(commands_in("export A=1\na b   # why\n"), ["a b"])


class Readme(Shell):
    #: Changes that make a command of the README fast.
    SMALLER = (
        (r"^thor run shell\.yaml", " --set generators.0.photons=300"),
        (r"^thor mock galaxy", " --gas-particles 8000"),
        (r"^thor grid ", " --cells 24"),
        (r"&& thor run galaxy\.yaml", " --set generators.0.photons=100 --set generators.1.photons=100"),
        (r"&& thor run rays\.yaml", " --set cameras.0.pixels=64 --set cameras.1.pixels=64"),
    )

    def test_three_examples(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        section = text[text.index("## Three examples") :].split("\n## ", 1)[0].replace("thor view", "thor info")
        used = set()
        for _, block in blocks(section):
            for command in commands_in(block):
                for pattern, smaller in self.SMALLER:
                    if re.search(pattern, command):
                        used.add(pattern)
                        command = re.sub(r" --cells \d+", "", command) + smaller
                done = self.shell(command)
                self.assertEqual(done.returncode, DONE, f"{command}\n{done.stdout}")
        self.assertEqual(len(used), len(self.SMALLER))
        for name in ("fast.h5", "fast.png", "galaxy_grid.h5", "galaxy.h5", "rays.h5"):
            self.assertGreater((self.work / name).stat().st_size, 1000, name)
        said = self.shell("thor init")
        named = re.search(r"shell\.yaml \(or ([^)]*)\)", section)[1]
        self.assertLessEqual(set(re.split(r", | or ", named)), {line.split()[0] for line in said.stdout.splitlines()})


class Files(Case):
    RANGE = ["-100 km/s", "100 km/s"]

    def documented(self):
        """The words of the trees of docs/formats.md, {"/summary": {"photons", ...}, ...}, of both drivers."""
        page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
        section = page[page.index("## What a result holds") :].split("\n## ")[0]
        found, names = {}, []
        for line in (line for _, text in blocks(section) for line in text.splitlines()):
            if not line.startswith(" "):
                names = re.findall(r"(?:^|(?<=; ))/[\w/]*|^[A-Z]+(?=:)", line)
            for name in names:
                whole = ""
                for word in re.findall(r"\w+", line):  # `luminosity_escaped _lost`: also luminosity_lost
                    short = word.startswith("_")
                    whole = whole if short else word
                    found.setdefault(name, set()).update({whole + word, whole.split("_")[0] + word} if short else {word})
        for words in found.values():
            for more in ("BINNED", "OBSERVER"):
                words |= found[more] if more in words else set()
        found["/generators/N"] |= found["/summary"]
        return found

    def check(self, path, names):
        """Every attribute and dataset of these groups of a result is in the tree."""
        documented = self.documented()
        with h5py.File(path) as file:
            for group, place in names.items():
                members = list(file[group].attrs) + [name for name, data in file[group].items() if hasattr(data, "shape")]
                self.assertGreater(len(members), 1, group)
                for name in members:
                    kind = {re.sub(r"^edges_(?!right|up).*", "edges_QUANTITY", name), re.sub("^until_.*", "until_", name)}
                    self.assertTrue(kind & documented[place], f"docs/formats.md: {group} has {name}, which is not at {place}")

    def test_all_of_a_result_is_documented(self):
        """Every attribute and every dataset of a result is on docs/formats.md."""
        seen = {"observer": "o", "width": "2 kpc", "pixels": 2}
        outputs = [
            {"type": "spectrum", "name": "s", "axis": "x", "range": [-9, 9], "bins": 4},
            {"type": "spectrum", "name": "a", "observer": "o", "range": self.RANGE, "bins": 4,
             "aperture": {"radius": "0.5 kpc", "inner": "0.1 kpc"}, "psf": {"fwhm": "0.1 kpc"}, "lsf": {"fwhm": "10 km/s"}},
            {"type": "image", "name": "i", "estimator": "escaped", **seen},
            {"type": "cube", "name": "c", "range": self.RANGE, "bins": 2, **seen},
            {"type": "profile", "name": "p", "observer": "o", "radius": "1 kpc", "bins": 3},
            {"type": "histogram", "name": "h", "axes": [{"quantity": "impact", "range": ["0 kpc", "1 kpc"], "bins": 3}]},
        ]
        config = {**sphere(10, 20, dust={"tau": 0.1}, outputs=outputs), "observers": [{"name": "o", "direction": [0, 0, 1]}],
                  "sky": {"redshift": 2}}
        binned = {"/spectra/s": "/spectra/NAME", "/spectra/a": "/spectra/NAME", "/images/i": "/images/NAME",
                  "/cubes/c": "/cubes/NAME", "/profiles/p": "/profiles/NAME", "/histograms/h": "/histograms/NAME"}
        until = {**config, "until": {"output": "s", "error": "50%", "max_photons": 20}}
        self.check(self.run_thor(until), {"/": "/", "/summary": "/summary", "/generators/0": "/generators/N", "/line": "/line",
                                          "/line/Lya": "/line/TRANSITION", "/sky": "/sky", "/tally": "/tally", **binned})
        for of, more in (("original", {}), ("peel", {"observer": "o"})):
            raw = {**config, "outputs": [{"type": "photons", "of": of, **more}]}
            self.check(self.run_thor(raw), {f"/photons/{of}": f"/photons/{of}"})

    def test_all_of_a_result_of_rays_is_documented(self):
        lines = {"sightlines": {"grid": 2}}
        config = {
            "driver": "raytrace",
            "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "column_density": "1e14 cm^-2"},
            "cameras": [{"name": "face", "direction": [0, 0, 1], "width": "2 kpc", "pixels": 4}],
            "operators": [
                {"type": "projection", "name": "n", "camera": "face", "field": "HI_density"},
                {"type": "absorption", "name": "l", "line": "Lya", "range": self.RANGE, "bins": 4, "lsf": "9 km/s",
                 "signal_to_noise": 9, **lines},
                {"type": "tracer", "name": "t", "fields": "HI_density", **lines}],
            "output": {"path": "out.h5"},
        }
        documented = self.documented()
        with h5py.File(self.run_thor(config)) as file:
            self.assertLessEqual(set(file["traces/t"]) - {"HI_density"}, documented["/traces/NAME"])
            for group in ("absorption/l", "images/n"):
                place = f"/{group.split('/')[0]}/NAME"
                vectors = {"direction", "right", "up", "centre"} if "camera_type" in file[group].attrs else set()
                self.assertLessEqual({*file[group], *file[group].attrs} - vectors, documented[place])


if __name__ == "__main__":
    UPDATE = "--update" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--update"]
    main()
