"""Messages about broken configurations: position, error, and suggestion; and the JSON schema.

    /usr/bin/python3 tests/e2e/test_broken_configurations.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Tests that need more than numpy and h5py are skipped
loudly if it is missing.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import FULL_SLAB, sphere  # noqa: E402
from support import Case, DONE, USAGE, as_nobody, command_line, good_texts, main, thor  # noqa: E402
from mutations import Answer, BY_SCHEMA, damaged_texts, documents, hostile_texts, structural_mutants  # noqa: E402


class BrokenConfigurations(unittest.TestCase):
    """Hundreds of broken files through `thor check --no-trial`, run once, two at a time."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="thor-e2e-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.mutants = structural_mutants()
        cls.damaged = dict(damaged_texts())
        cls.hostile = hostile_texts()
        begin = time.monotonic()
        jobs = [(f"m{i}.yaml", m.yaml.encode(), m.overrides) for i, m in enumerate(cls.mutants)]
        jobs += [(f"d{i}.yaml", data, ()) for i, data in enumerate(cls.damaged.values())]
        jobs += [(f"h{i}.yaml", data.encode(), ()) for i, data in enumerate(cls.hostile.values())]
        for name, data, _ in jobs:
            (cls.folder / name).write_bytes(data)
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            cls.results = dict(workers.map(cls.check, jobs))
        cls.seconds = time.monotonic() - begin

    @classmethod
    def check(cls, job):
        name, _, overrides = job
        arguments = ["check", name, "--no-trial", *(word for o in overrides for word in ("--set", o))]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            job = subprocess.Popen(command_line(*arguments), stdout=out, stderr=err, cwd=cls.folder)
            watch = threading.Timer(60, job.kill)
            watch.start()
            _, status, usage = os.wait4(job.pid, 0)
            watch.cancel()
            job.returncode = os.waitstatus_to_exitcode(status)
            for file in (out, err):
                file.seek(0)
            told = [file.read().decode(errors="replace") for file in (out, err)]
        # Processor time: others may use the machine.
        return name, Answer(job.returncode, *told, usage.ru_utime + usage.ru_stime)

    def report(self, problems):
        self.assertFalse(problems, f"{len(problems)} problems:\n" + "\n".join(map(str, problems[:15])))

    def test_all_good_ones_are_accepted(self):
        self.assertEqual(len(documents()), 11)
        for name, document in documents().items():
            path = self.folder.with_suffix(".good.yaml")
            path.write_text("\n".join(document.lines))
            self.addCleanup(path.unlink, missing_ok=True)
            done = thor("check", path, "--no-trial")
            self.assertEqual(done.returncode, DONE, f"{name}: {done.stderr}")

    def test_there_are_enough(self):
        refused = sum(done.returncode == USAGE for done in self.results.values())
        print(f"\n  {len(self.results)} broken configurations, {len(self.mutants)} of them with one known error: "
              f"{refused} refused, in {self.seconds:.1f} s", file=sys.stderr)
        self.assertGreaterEqual(len(self.results), 300)
        self.assertGreaterEqual(refused, 200)
        kinds = {m.kind for m in self.mutants}
        self.assertEqual(kinds, BY_SCHEMA | {"type", "number", "repeated", "set"})

    def test_nothing_crashes(self):
        self.report([(name, self.what(name), done.returncode, done.stderr[-300:]) for name, done in self.results.items()
                     if done.returncode not in (DONE, USAGE)])

    def what(self, name):
        number = int(re.search(r"\d+", name).group())
        if name[0] == "m":
            return f"{self.mutants[number].document}: {self.mutants[number].what}"
        return list(self.damaged if name[0] == "d" else self.hostile)[number]

    def test_every_known_mistake_is_refused(self):
        self.report([(self.what(name), done.stdout[:200]) for name, done in self.results.items()
                     if name[0] in "mh" and done.returncode != USAGE])

    def test_messages_name_file_line_key_and_nearest(self):
        problems = []
        for i, m in enumerate(self.mutants):
            told = self.results[f"m{i}.yaml"].stderr
            for pattern in m.says:
                if not re.search(pattern.replace("{file}", rf"m{i}\.yaml"), told):
                    problems.append((f"{m.document}: {m.what}", "expected: " + pattern, "got: " + told[:400]))
        self.report(problems)

    def test_messages_name_the_file_or_the_override(self):
        self.report([(self.what(name), done.stderr[:200]) for name, done in self.results.items()
                     if done.returncode == USAGE and name not in done.stderr and "--set" not in done.stderr])

    def test_one_mistake_is_one_message(self):
        """An unreadable value does not cause further messages about what depends on it."""
        problems = []
        for i, m in enumerate(self.mutants):
            told = self.results[f"m{i}.yaml"].stderr
            keys = set(re.findall(r"(?m)^(?:thor: error: )?(?:m\d+\.yaml:\d+:\d+|--set .*?): ([a-z_]\S*?)(?:\.\d+)?: ", told))
            if m.kind in ("number", "unit", "choice", "set") and len(keys) > 1:
                problems.append((m.what, told[:400]))
        self.report(problems)

    def test_refused_is_said_on_stderr_only(self):
        self.report([(self.what(name), done.stdout[:100]) for name, done in self.results.items()
                     if done.returncode == USAGE and (done.stdout or "error:" not in done.stderr)])

    def test_accepted_says_nothing_on_stderr(self):
        self.report([(self.what(name), done.stderr[:200]) for name, done in self.results.items()
                     if done.returncode == DONE and "error:" in done.stderr])

    def test_nothing_is_written(self):
        self.assertEqual(set(os.listdir(self.folder)), set(self.results))

    def test_each_takes_less_than_four_seconds(self):
        self.report([(self.what(name), f"{done.seconds:.1f} s") for name, done in self.results.items() if done.seconds > 4])
        self.assertLess(sum(done.seconds for done in self.results.values()), 0.2 * len(self.results), "of the processor")


class UnreadableFiles(Case):
    def refuse(self, path, says, **options):
        done = subprocess.run(command_line("check", path, "--no-trial"), capture_output=True, text=True, timeout=20, **options)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertRegex(done.stderr, says)
        self.assertIn(str(path), done.stderr)
        self.assertEqual(done.stdout, "")

    def test_missing(self):
        self.refuse(self.folder / "none.yaml", "missing or not readable.*thor init")
        self.refuse(self.write(sphere(1, 1)) / "below.yaml", "missing or not readable")

    def test_directory(self):
        self.refuse(self.folder, "is a directory")

    def test_dangling_link(self):
        (self.folder / "link.yaml").symlink_to("nowhere")
        self.refuse(self.folder / "link.yaml", "missing or not readable")

    def test_standard_input(self):
        done = thor("check", "-", "--no-trial", input="line: Lyb\n")
        self.assertEqual(done.returncode, USAGE)
        self.assertRegex(done.stderr, r'<stdin>:1:7: line: expected .*got "Lyb"; did you mean "Lya"')
        self.assertEqual(thor("check", "-", "--no-trial", input="").returncode, USAGE)
        self.assertEqual(thor("check", "-", "--no-trial", input=FULL_SLAB).returncode, DONE)

    def test_no_permission(self):
        path = self.write(sphere(1, 1))
        path.chmod(0)
        with as_nobody(self, self.folder) as options:
            self.refuse(path, "not readable", **options)


class AllMistakesAtOnce(Case):
    MISTAKES = [
        ("line: Lya\n", "line: Lya\nseed: -1\n", r":2:\d+: seed: "),
        ("photons: 20", "photons: 2.5", "generators.0.photons: "),
        ("core_skip: global", "core_skip: globl", 'acceleration.core_skip: .*did you mean "global"'),
        ("range: [-40, 40]", "range: [40, -40]", "outputs.0.range: must increase"),
        ("path: a.h5", "path: a.hdf", "output.path: expected a file name that ends in .h5"),
        ("recoil: true", "recol: true", 'physics.recol: unknown key; did you mean "recoil"'),
    ]
    GOOD = """line: Lya
dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3}
generators:
  - {type: point, photons: 20}
acceleration: {core_skip: global}
physics: {recoil: true}
outputs:
  - {type: spectrum, name: emergent, axis: x, range: [-40, 40], bins: 100}
output: {path: a.h5}
"""

    def told(self, yaml):
        done = thor("check", self.write(yaml), "--no-trial")
        self.assertEqual(done.returncode, USAGE, done.stdout)
        return done.stderr

    def test_of_six_sections(self):
        yaml = self.GOOD
        for good, bad, _ in self.MISTAKES:
            self.assertIn(good, yaml)
            yaml = yaml.replace(good, bad)
        told = self.told(yaml)
        for _, _, says in self.MISTAKES:
            self.assertRegex(told, says)
        self.assertEqual(len(told.splitlines()), 1 + len(self.MISTAKES), told)

    def test_what_is_seen_by_building_is_told_with_the_rest(self):
        """The gas is built if its section has no errors, the sources if both have none."""
        broken = self.GOOD.replace("core_skip: global", "core_skip: globl").replace("a.h5", "a.hdf")
        gas = broken.replace("tau0: 1e3", "tau0: 1e3, density: {profile: power_law, exponent: -2}, "
                                          "velocity: {profile: power_law, exponent: -2, average: 1 km/s}")
        told = self.told(gas)
        for key in ("dataset.density.exponent: .*diverges", "dataset.velocity.exponent: .*diverges",
                    "acceleration.core_skip", "output.path"):
            self.assertRegex(told, key)
        source = broken.replace("photons: 20", "photons: 20, position: [2 kpc, 0 kpc, 0 kpc]")
        told = self.told(source)
        for key in ("generators.0.position: .*outside", "acceleration.core_skip", "output.path"):
            self.assertRegex(told, key)

    def test_every_source_outside_is_named(self):
        where = "{type: point, photons: 20, position: [2 kpc, 0 kpc, 0 kpc]}"
        told = self.told(self.GOOD.replace("{type: point, photons: 20}", f"{where}\n  - {where}"))
        self.assertRegex(told, r":4:\d+: generators.0.position(.|\n)*:5:\d+: generators.1.position")

    def test_a_bad_override_is_not_joined_by_false_alarms(self):
        path = self.write(self.GOOD)
        done = thor("check", path, "--no-trial", "--set", "dataset.tau0.x=1", "--set", "oops")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--set dataset.tau0.x=1: dataset.tau0 is a single value", done.stderr)
        self.assertIn("--set oops: expected a.b=value", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)


class JsonSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import jsonschema
            import yaml
        except ImportError as error:
            raise unittest.SkipTest(f"*** SKIPPED: {error} (Debian: python3-jsonschema, python3-yaml): "
                                    "THE JSON SCHEMA IS NOT TESTED ***") from error
        cls.schema = json.loads(thor("schema").stdout)
        cls.load = staticmethod(yaml.safe_load)
        cls.draft = jsonschema.Draft202012Validator
        cls.validator = cls.draft(cls.schema)

    def test_is_a_schema(self):
        self.draft.check_schema(self.schema)
        self.assertEqual(self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema")

    def test_good_configurations_are_valid(self):
        texts = {**good_texts(), **{f"{name}, resolved": "\n".join(d.lines) for name, d in documents().items()}}
        for name, yaml in texts.items():
            with self.subTest(name):
                errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in self.validator.iter_errors(self.load(yaml))]
                self.assertEqual(errors, [])
        self.assertIsInstance(self.load("1e6"), str, "this reader does not have the quirk that the schema must allow")

    def test_bad_ones_are_not(self):
        mutants = [m for m in structural_mutants() if m.kind in BY_SCHEMA]
        self.assertGreater(len(mutants), 100)
        accepted = [m for m in mutants if self.validator.is_valid(self.load(m.yaml))]
        print(f"\n  JSON schema: {len(mutants) - len(accepted)} of {len(mutants)} refused", file=sys.stderr)
        for m in accepted:
            print(f"    accepted ({m.kind}): {m.document}: {m.what}", file=sys.stderr)
        self.assertLessEqual(len(accepted), 0.05 * len(mutants))


if __name__ == "__main__":
    main()
