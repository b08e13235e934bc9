"""`thor check`, `thor run` and `thor run --replay` accept the same configurations and refuse the others in the same words.

    /usr/bin/python3 tests/e2e/test_refusals.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. What depends on the moment is left to a run alone: the device, and
whether the result file can be written.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import MEDIA, sphere  # noqa: E402
from support import Case, DONE, INPUT, KPC, OUTPUT, USAGE, main, on_grid, thor, write_grid  # noqa: E402
from mutations import CONFLICTS, documents, hostile_texts  # noqa: E402

COMMANDS = {"check": ("check", "--no-trial"), "run": ("run", "--quiet"), "replay": ("run", "--replay", 0, "--quiet")}


class Refusals(Case):
    def refuse(self, code, config, *arguments, says="error:"):
        """The three commands end alike, and leave nothing behind."""
        path = self.write(config)
        before = sorted(self.folder.rglob("*"))
        done = {name: thor(*command, path, *arguments) for name, command in COMMANDS.items()}
        self.assertEqual({name: d.returncode for name, d in done.items()}, dict.fromkeys(COMMANDS, code),
                         done["run"].stderr)
        # A run says what it reads, and a check too, unless it is told not to.
        told = {name: [line for line in d.stderr.splitlines() if not line.startswith("thor: reading")]
                for name, d in done.items()}
        self.assertEqual(told["run"], told["check"])
        self.assertEqual(told["replay"], told["check"])
        self.assertRegex(done["check"].stderr, says)
        self.assertEqual([d.stdout for d in done.values()], ["", "", ""])
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_mistakes_in_a_configuration(self):
        for name, override, says in CONFLICTS:
            with self.subTest(override):
                self.refuse(USAGE, "\n".join(documents()[name].lines), "--set", override, says=says)
        for name, text in list(hostile_texts().items())[::4]:
            with self.subTest(name):
                self.refuse(USAGE, text)

    def test_mistakes_on_the_command_line(self):
        path = self.write(sphere(1, 10))
        for words, options in (("--seed: -1 is not a whole number", ("--seed", "-1")),
                               ("--replay: -1 is not a whole number", ("--replay", "-1")),
                               ("named by number: outputs.0.bins=3", ("--set", "outputs[0].bins=3")),
                               ("--by-light: gas of type shell cannot be divided", ("--by-light",))):
            done = thor("run", path, *options)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(words, done.stderr)

    def test_a_tab_is_named(self):
        path = self.folder / "tab.yaml"
        path.write_text("line: Lya\ndataset:\n\ttype: shell\n")
        self.assertIn("line 3 is indented with a tab: use spaces", thor("check", path).stderr)

    def test_a_configuration_that_is_not_there(self):
        done = [thor(*command, self.folder / "none.yaml") for command in COMMANDS.values()]
        self.assertEqual([d.returncode for d in done], [USAGE] * 3)
        self.assertEqual(len({d.stderr for d in done}), 1)

    def test_a_result_that_would_replace_its_input(self):
        grid = self.folder / "grid.h5"
        write_grid(grid, 4)
        config = {**on_grid(grid, 10, 4e20), "output": {"path": str(grid)}}
        self.refuse(OUTPUT, config, says="it is also the input: use another name")
        self.assertEqual(thor("run", self.write(config), "--quiet", "-o", self.folder / "out.h5").returncode, DONE)

    def grid_with(self, name, change):
        """A grid of 4^3 cells, spoilt."""
        path = self.folder / f"{name.replace(' ', '_')}.h5"
        write_grid(path, 4)
        if change:
            with h5py.File(path, "r+") as file:
                change(file)
        return path

    def test_bad_grids(self):
        def spoil(field, value):
            def change(file):
                file[field][1, 2, 3] = value
            return change
        faults = {
            "density not a number": (spoil("HI_density", np.nan), "density = nan"),
            "negative temperature": (spoil("temperature", -1), "temperature"),
            "fast": (spoil("velocity_x", 1e6), "velocity"),
            "no density": (lambda file: file.__delitem__("HI_density"), "HI_density"),
            "no cell size": (lambda file: file.attrs.__delitem__("cell_size"), "cell_size"),
                    }
        for name, (change, says) in faults.items():
            with self.subTest(name):
                self.refuse(INPUT, on_grid(self.grid_with(name, change), 10, 4e20), says=says)

    def test_grids_that_cannot_be_read(self):
        grid = self.grid_with("whole", None)
        cut = self.folder / "cut.h5"
        cut.write_bytes(grid.read_bytes()[:3000])
        for path in (self.folder / "none.h5", cut):
            with self.subTest(path.name):
                self.refuse(INPUT, on_grid(path, 10, 4e20), says=path.name)

    def test_what_does_not_fit_a_grid(self):
        grid = self.grid_with("whole", None)
        outside = on_grid(grid, 10, 4e20)
        outside["generators"][0]["position"] = [f"{9e20 / KPC} kpc"] * 3
        self.refuse(USAGE, outside, says="generators.0.position: .*outside")
        self.refuse(USAGE, on_grid(grid, 10, 4e20, acceleration={"core_skip": "global"}), says="core_skip")
        self.refuse(USAGE, on_grid(grid, 10, 4e20, numerics={"voigt": "H82"}), says="numerics: ")
        dark = on_grid(grid, 10, 4e20)
        dark["generators"] = [{"type": "gas", "emission": "recombination", "photons": 10}]
        self.refuse(INPUT, dark, says="recombination")

    def test_what_is_accepted_is_run(self):
        for name, config in MEDIA.items():
            with self.subTest(name):
                path = self.write(config)
                self.assertEqual(thor("check", "--no-trial", path).returncode, DONE)
                self.assertEqual(thor("run", "--quiet", path, "-o", self.folder / f"{name}.h5").returncode, DONE)
                self.assertEqual(thor("run", "--quiet", path, "--replay", 0).returncode, DONE)

    def test_warnings_are_the_same(self):
        grid = self.folder / "jumps.h5"
        write_grid(grid, 8)
        with h5py.File(grid, "r+") as file:
            file["velocity_x"][::2] = 100
        config = on_grid(grid, 10, 8e20, acceleration={"core_skip": {"fixed": 3}})
        told = []
        for command in COMMANDS.values():
            done = thor(*command, self.write(config))
            self.assertEqual(done.returncode, DONE, done.stderr)
            lines = [line for line in done.stderr.splitlines() if line.startswith("thor: warning")]
            told.append(lines)
        for warning, says in zip(told[0], ("HI_temperature", "the grid is too coarse", "core_skip fixed: 3"), strict=True):
            self.assertRegex(warning, says)
        self.assertEqual(told[1], told[0])
        self.assertEqual(told[2], told[0])


if __name__ == "__main__":
    main()
