"""`thor help`: the manual entries of configuration keys and the help of commands.

    /usr/bin/python3 tests/e2e/test_help.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import Case, DONE, USAGE, main, thor  # noqa: E402


class Help(Case):
    def told(self, *words, expect=DONE):
        done = thor("help", *words)
        self.assertEqual(done.returncode, expect, done.stderr)
        self.assertEqual((done.stderr if expect == DONE else done.stdout), "")
        return done.stdout if expect == DONE else done.stderr

    def entry(self, key):
        """Rows of the only entry of a key."""
        lines = self.told(key).split("\n\n")[0].splitlines()
        return lines[0], dict(line.strip().split(None, 1) for line in lines[2:])

    def test_overview_and_commands(self):
        self.assertEqual(self.told(), thor("--help").stdout)
        commands = re.findall(r"^## ([a-z]+)$", thor("manual", "--format", "markdown").stdout, re.M)
        for command in commands:
            self.assertTrue(self.told(command).startswith(thor(command, "--help").stdout), command)
        self.assertGreater(len(commands), 10)

    def test_a_quantity(self):
        path, rows = self.entry("dataset.outer_radius")
        self.assertEqual(path, "dataset.outer_radius")
        self.assertIn("> 0 cm", rows["value"])
        self.assertIn("kpc", rows["units"].split(", "))
        self.assertEqual((rows["default"], rows["with"], rows["driver"]), ("required", "type: shell", "mcrt, raytrace"))
        self.assertEqual(rows["example"], "dataset: {outer_radius: 1 kpc}")

    def test_links_and_groups_of_keys(self):
        self.assertIn("file with further lines (docs/lines.md); its", thor("help", "line_list").stdout)
        self.assertIn("default  none: set one of tau, law, cross_section\n", thor("help", "dataset.dust.tau").stdout)

    def test_a_choice_has_its_words(self):
        rows = self.entry("dataset.density.profile")[1]
        self.assertEqual(rows["value"], "homogeneous, power_law")
        self.assertIn("r^exponent", rows["power_law:"])
        self.assertEqual(rows["default"], "homogeneous")

    def test_conditions_of_conditions(self):
        self.assertEqual(self.entry("generators.radius")[1]["with"], "shape: surface or beam; type: extended")

    def test_elements_of_lists(self):
        told = self.told("generators.photons")
        self.assertEqual(self.told("generators.0.photons"), told)
        self.assertEqual(told.count("generators.photons\n"), 2, "one for each declaration")
        self.assertIn("generators: [{photons: 100000}]", told)

    def test_the_end_of_a_path(self):
        self.assertEqual(self.told("tau"), self.told("dataset.dust.tau"))
        self.assertEqual(self.told("dust.tau"), self.told("dataset.dust.tau"))
        told = self.told("type")  # many: a list
        paths = re.findall(r"^  (\S+)", told, re.M)
        self.assertIn("dataset.type", paths)
        self.assertGreater(len(paths), 4)
        for path in paths:
            self.assertTrue(self.told(path).startswith(path + "\n"), path)

    def test_every_key_has_an_entry(self):
        for path in thor("schema", "--format", "keys").stdout.split():
            plain = re.sub(r"\.0\b", "", path)
            told = self.told(path)
            self.assertTrue(told.startswith(plain + "\n"), path)
            self.assertRegex(told, r"(?m)^  value +\S", path)
            self.assertRegex(told, r"(?m)^  default +\S", path)
            self.assertNotRegex(told, r"`|\]\(", path)

    def test_unknown_keys(self):
        for word, near in (("taux", "dataset.dust.tau"), ("dataset.temprature", "dataset.temperature"),
                           ("power_law", "dataset.density.profile"), ("generators.photns", "generators.photons")):
            said = self.told(word, expect=USAGE)
            self.assertIn(f"{word}: ", said)
            self.assertIn(near, said)
        self.assertIn("zzzzzz: ", self.told("zzzzzz", expect=USAGE))
        for word in ("", ".", "..", "0", "a" * 5000, "\x1b[31m"):
            self.assertEqual(thor("help", word).returncode, DONE if word == "" else USAGE, word)


if __name__ == "__main__":
    main()
