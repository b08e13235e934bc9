"""What thor prints about configurations and itself: check, init, lists, generated documents, completions, manual.

    /usr/bin/python3 tests/e2e/test_printed.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Tests that need more than numpy and h5py are skipped
loudly if it is missing.
"""

import json
import math
import os
import re
import shutil
import stat
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, FULL_SLAB, TEMPLATES, TEMPLATES_OF_GRIDS, slab, sphere, wide_spectra  # noqa: E402
from support import (  # noqa: E402
    Case, DONE, OUTPUT, ROOT, USAGE, best_of, command_line, commands, good_texts, main, mounted, skip_loudly, thor,
    without)


class StandardOutput(Case):
    def test_it_is_closed(self):
        """What cannot be printed is an error; what prints nothing is none."""
        path = self.write(sphere(1, 10))
        out = self.run_thor(sphere(1, 10, outputs=[]))
        for words, code in ((("info", out), OUTPUT), (("info", out, "--json"), OUTPUT), (("--version",), OUTPUT), (("run", "--help"), OUTPUT),
                            (("lines",), OUTPUT), (("run", path, "-o", self.folder / "new.h5"), DONE)):
            done = subprocess.run(command_line(*words), stderr=subprocess.PIPE, text=True, timeout=60, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
            self.assertEqual("cannot write to the standard output" in done.stderr, code == OUTPUT)
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run(command_line("--help"), stdout=full, stderr=subprocess.PIPE).returncode, OUTPUT)


class Check(Case):
    # CODATA 2018, cgs; the line as `thor lines` gives it.
    K_B, M_U, M_E, E = 1.380649e-16, 1.66053906660e-24, 9.1093837015e-28, 4.80320471257e-10
    LIGHT = 2.99792458e10
    PARSEC = 3.0856775814913673e18

    def check(self, config, *arguments):
        done = thor("check", self.write(config), "--json", *(arguments or ("--no-trial",)))
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def derived(self, config):
        return {name: entry["value"] for name, entry in self.check(config)["derived"].items()}

    def line(self):
        return json.loads(thor("lines", "--json").stdout)[0]["transitions"][0]

    def thermal_speed(self, kelvin, b_turb=0.0):
        return math.sqrt(2 * self.K_B * kelvin / (self.line()["mass_u"] * self.M_U) + b_turb**2)

    def assert_close(self, value, expected, what=""):
        self.assertAlmostEqual(value / expected, 1, delta=1e-6, msg=f"{what}: {value}, expected {expected}")

    def test_what_is_printed_is_the_same_configuration(self):
        for name, yaml in good_texts().items():
            with self.subTest(name):
                first = thor("check", self.write(yaml), "--no-trial")
                again = thor("check", self.write(first.stdout), "--no-trial")
                self.assertEqual(again.returncode, DONE, again.stderr)
                self.assertEqual(again.stdout, first.stdout)
                self.assertNotEqual(first.stdout, yaml)

    def test_json_has_the_same(self):
        for name, yaml in good_texts().items():
            with self.subTest(name):
                printed = thor("check", self.write(yaml), "--no-trial").stdout
                told = self.check(yaml)
                self.assertTrue(printed.startswith(told["configuration"]))
                rows = re.findall(r"^#   (\w+) +(\S+)", printed, re.M)
                self.assertEqual([row[0] for row in rows], list(told["derived"]))
                for key, value in rows:
                    self.assertEqual(value, f"{told['derived'][key]['value']:.6g}", key)

    def test_bytes_that_are_no_text_are_kept_or_refused(self):
        """The configuration stored in the result file must name the same file."""
        path = self.folder / "bytes.yaml"
        path.write_bytes(FULL_SLAB.encode().replace(b"slab.h5", b'"a\xff #.h5"'))
        done = subprocess.run(command_line("check", path, "--no-trial"), capture_output=True, timeout=20)
        self.assertIn(done.returncode, (DONE, USAGE))
        if done.returncode == DONE:
            self.assertIn(b"a\xff #.h5", done.stdout)

    def test_thermal_speed_voigt_parameter_and_cross_section(self):
        line = self.line()
        frequency = self.LIGHT / (line["wavelength_angstrom"] * 1e-8)
        for kelvin, b_turb in ((1e4, 0), (100, 0), (2e4, 20)):
            d = self.derived(sphere(1, 1, temperature=f"{kelvin} K", b_turb=f"{b_turb} km/s"))
            speed = self.thermal_speed(kelvin, b_turb * 1e5)
            doppler = frequency * speed / self.LIGHT
            self.assert_close(d["wavelength0"], 1215.6701)
            self.assert_close(d["thermal_speed"], speed / 1e5, "v_th")
            self.assert_close(d["voigt_parameter"], line["einstein_A_per_second"] / (4 * math.pi * doppler), "a")
            sigma = math.sqrt(math.pi) * self.E**2 * line["oscillator_strength"] / (self.M_E * self.LIGHT * doppler)
            self.assert_close(d["cross_section"], sigma, "sigma_0")

    def test_optical_depth_and_columns(self):
        """tau0 = N sigma_0, and N = n R int_r^1 s^p ds with n at the outer edge."""
        radius = 1e3 * self.PARSEC
        for inner, power in ((0, 0), (0.5, 0), (0.1, -2), (0.2, -1), (0, 1.5)):
            integral = -math.log(inner) if power == -1 else (1 - inner ** (power + 1)) / (power + 1)
            for given, value in (("tau0", 1e5), ("column_density", "3e18 cm^-2"), ("number_density", "2e-3 cm^-3")):
                with self.subTest(inner=inner, power=power, given=given):
                    config = sphere(1, 1, inner_radius=f"{inner} kpc", density={"profile": "power_law", "exponent": power})
                    del config["dataset"]["tau0"]
                    config["dataset"][given] = value
                    d = self.derived(config)
                    self.assert_close(d[given], float(str(value).split()[0]), given)
                    self.assert_close(d["tau0"], d["column_density"] * d["cross_section"], "tau0")
                    self.assert_close(d["column_density"], d["number_density"] * radius * integral, "N")
                    self.assert_close(d["a_tau0"], d["voigt_parameter"] * d["tau0"], "a tau0")
        config = slab(1, 1)
        del config["dataset"]["tau0"]
        config["dataset"]["number_density"] = "1 cm^-3"
        self.assert_close(self.derived(config)["column_density"], radius, "slab")

    def test_critical_frequency_photons_and_luminosity(self):
        config = sphere(1e8, 70)
        config["generators"].append({"type": "point", "photons": 30, "luminosity": "3e42 erg/s"})
        d = self.derived(config)
        self.assertEqual((d["x_crit"], d["photons"]), (0, 100))
        self.assert_close(d["luminosity"], 4e42)
        for mode in ("global", "local", "smith15"):
            d = self.derived({**config, "acceleration": {"core_skip": mode}})
            self.assert_close(d["x_crit"], 0.2 * (d["voigt_parameter"] * 1e8) ** (1 / 3), mode)
        self.assertEqual(self.derived({**config, "acceleration": {"core_skip": {"fixed": 2.5}}})["x_crit"], 2.5)
        thin = {**sphere(100, 1), "acceleration": {"core_skip": "global"}}
        self.assertEqual(self.derived(thin)["x_crit"], 0)

    def test_the_time_it_takes(self):
        """Estimate for a run of a second on one thread, while others use the machine: within a factor of five."""
        config = sphere(1e4, 1000, outputs=wide_spectra(1, bins=100))
        told = self.check(config, "--threads", "1")["estimate"]
        summary = self.summary(self.run_thor(config, "--threads", 1, "--device", "cpu"))  # where the estimate is made
        ratio = told["seconds"] / summary["transport_seconds"]
        print(f"\n  estimate {told['seconds']:.2f} s, run {summary['transport_seconds']:.2f} s", file=sys.stderr)
        self.assertGreater(summary["transport_seconds"], 0.1, "too short to say anything")
        self.assertLess(abs(math.log(ratio)), math.log(5), f"{told['seconds']} s foreseen")
        mean = summary["scatterings"] / summary["photons"]
        self.assertLess(abs(math.log(told["scatterings_per_photon"] / mean)), math.log(1.5))

    def test_a_trial_is_not_endless(self):
        told = {}
        self.assertLess(best_of(1, lambda: told.update(self.check(ENDLESS, "--threads", "1")["estimate"])), 8)
        self.assertGreater(told["seconds"], 1000)


class Init(Case):
    def test_lists_the_templates(self):
        done = thor("init")
        self.assertEqual(done.returncode, DONE)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], list(TEMPLATES + TEMPLATES_OF_GRIDS))
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"\.$")  # a whole sentence

    def test_comments_have_no_links(self):
        for name in TEMPLATES + TEMPLATES_OF_GRIDS:
            self.assertNotIn("](", thor("init", name, "-o", "-").stdout, name)

    def test_every_template_checks_and_runs(self):
        for name in TEMPLATES:
            with self.subTest(name):
                done = thor("init", name, cwd=self.folder)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual(thor("check", self.folder / f"{name}.yaml", "--no-trial").returncode, DONE)
                done = thor("run", f"{name}.yaml", "--set", "generators.0.photons=50", cwd=self.folder)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assert_closed(self.folder / f"{name}.h5")
                self.assertEqual(self.summary(self.folder / f"{name}.h5")["photons"], 50)

    def test_does_not_replace_a_file(self):
        path = self.folder / "slab.yaml"
        path.write_text("precious")
        for arguments in ((), ("-o", path)):
            done = thor("init", "slab", *arguments, cwd=self.folder)
            self.assertEqual(done.returncode, OUTPUT)
            self.assertIn("--overwrite", done.stderr)
            self.assertEqual(path.read_text(), "precious")
        self.assertEqual(thor("init", "slab", "--overwrite", cwd=self.folder).returncode, DONE)
        self.assertIn("half_thickness", path.read_text())

    def test_unknown_template(self):
        done = thor("init", "spher", cwd=self.folder)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('did you mean "sphere"', done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_no_place(self):
        for path in (self.folder / "none/a.yaml", self.folder):
            self.assertEqual(thor("init", "slab", "-o", path).returncode, OUTPUT)

    def test_full_disk_leaves_nothing(self):
        with mounted(self, self.folder / "disk", "size=8k") as disk:
            (disk / "ballast").write_bytes(bytes(8192))
            done = thor("init", "slab", "-o", disk / "a.yaml")
            self.assertEqual(done.returncode, OUTPUT, done.stderr)
            self.assertEqual(os.listdir(disk), ["ballast"])
        (self.folder / "disk").rmdir()

    def test_a_device_is_not_removed(self):
        """--overwrite with a target that is not a plain file: if writing fails, it must still exist."""
        link = self.folder / "link"
        link.symlink_to("/dev/full")
        self.assertEqual(thor("init", "slab", "-o", link, "--overwrite").returncode, OUTPUT)
        self.assertTrue(link.is_symlink(), "the previous file is gone")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))


class Machine(Case):
    def test_lines(self):
        lines = json.loads(thor("lines", "--json").stdout)
        self.assertEqual(lines[0]["name"], "Lya")
        self.assertGreaterEqual({line["name"] for line in lines}, {"MgII", "CIV", "SiII_1190", "FeII_UV", "OVII"})
        first = lines[0]["transitions"][0]
        self.assertAlmostEqual(first["wavelength_angstrom"], 1215.6701, delta=1e-9)
        self.assertAlmostEqual(first["mass_u"], 1.00782503, delta=1e-8)
        printed = thor("lines").stdout
        rows = iter(printed.splitlines()[1:])
        for line in lines:
            self.assertTrue(line["description"] and line["source"], line["name"])
            self.assertTrue(line["transitions"][0]["absorbs"], line["name"])
            name = line["name"]
            for t in line["transitions"]:
                words = next(rows).split()
                if name:
                    self.assertEqual(words.pop(0), name)
                self.assertEqual((words[0], words[1]), (t["name"], f"{t['wavelength_angstrom']:.4f}"))
                self.assertAlmostEqual(float(words[2]) / t["oscillator_strength"], 1, delta=1e-3)
                self.assertEqual(words[6:7] in (["fluorescent"], ["with"]), not t["absorbs"])
                name = ""
        upper = {}
        for t in (t for line in lines if line["name"] == "SiII_1190" for t in line["transitions"]):
            upper[t["upper"]] = upper.get(t["upper"], 0) + t["branching"]
        self.assertEqual(len(upper), 2)
        for share in upper.values():
            self.assertAlmostEqual(share, 1, delta=1e-12)

    def test_the_list_reads_itself(self):
        """`thor lines --yaml` prints a list to start your own from."""
        printed = thor("lines", "--yaml")
        self.assertEqual((printed.returncode, printed.stderr), (DONE, ""))
        self.assertEqual(printed.stdout, (ROOT / "src/thor/line/lines.yaml").read_text())
        path = self.write(printed.stdout, "lines.yaml")
        for how in ((), ("--json",)):
            self.assertEqual(thor("lines", path, *how).stdout, thor("lines", *how).stdout)
        renamed = self.write(printed.stdout.replace("name: MgII\n", "name: Magnesium\n", 1), "renamed.yaml")
        names = [line["name"] for line in json.loads(thor("lines", renamed, "--json").stdout)]
        self.assertIn("Magnesium", names)
        self.assertIn("MgII", names, "the built-in line stays")
        self.assertEqual(thor("lines", "--yaml", "--json").returncode, USAGE)

    def test_devices(self):
        told = json.loads(thor("devices", "--json").stdout)
        printed = thor("devices").stdout
        self.assertIn(told["cpu"]["name"], printed)
        self.assertEqual([k["name"] for k in told["cpu"]["kernels"]], re.findall(r"kernel (\S+)", printed))
        self.assertEqual(told["cpu"]["threads"], len(os.sched_getaffinity(0)))
        self.assertEqual([d["device"] for d in told["devices"]], re.findall(r"device (\S+),", printed))

    def test_starts_in_no_time(self):
        seconds = best_of(5, lambda: thor("--help"))
        print(f"\n  thor --help: {1000 * seconds:.0f} ms", file=sys.stderr)
        # AdaptiveCpp reads the code of all kernels before main().
        self.assertLess(seconds, 0.05 if without("sycl") else 0.3)

    def test_a_thousand_lines_are_checked_in_no_time(self):
        source = "  - type: point\n    photons: 10\n    luminosity: 1e42 erg/s\n    position: [0 kpc, 0 kpc, 0.1 kpc]\n" \
                 "    spectrum:\n      type: gaussian\n      sigma: 100 km/s\n"
        yaml = "line: Lya\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e3}\ngenerators:\n" \
               + source * 150 + "acceleration: {core_skip: none}\noutput: {path: a.h5}\n"
        self.assertGreater(len(yaml.splitlines()), 1000)
        path = self.write(yaml)
        self.assertEqual(thor("check", path, "--no-trial").returncode, DONE)
        start = best_of(5, lambda: thor("lines"))
        seconds = best_of(5, lambda: thor("check", path, "--no-trial")) - start
        print(f"\n  thor check of 1000 lines: {1000 * seconds:.0f} ms above the start", file=sys.stderr)
        self.assertLess(seconds, 0.05)


class GeneratedDocuments(unittest.TestCase):
    def check(self, path, *command):
        made = subprocess.run(command_line(*command), capture_output=True, timeout=20, check=True).stdout
        self.assertEqual((ROOT / path).read_bytes(), made,
                         f"{path} is not what thor says: update it with `thor {' '.join(command)} > {path}`")

    def test_configuration(self):
        self.check("docs/configuration.md", "schema", "--format", "markdown")

    def test_command_line(self):
        self.check("docs/command-line.md", "manual", "--format", "markdown")

    def test_lines(self):
        """The list of docs/lines.md."""
        def wavelengths(transitions):
            return ", ".join(f"{t['wavelength_angstrom']:.2f}" + " (D)" * (t["ion"] == "D I") for t in transitions)
        expected = []
        for line in json.loads(thor("lines", "--json").stdout):
            absorbing = [t for t in line["transitions"] if t["absorbs"] or t["ion"] == "D I"]
            others = [t for t in line["transitions"] if t not in absorbing]
            expected.append(f"- `{line['name']}`: {line['description']}; absorbs at {wavelengths(absorbing)}"
                            + (f"; emits only at {wavelengths(others)}" if others else ""))
        page = (ROOT / "docs/lines.md").read_text()
        section = page.partition("## The lines that thor knows\n")[2].partition("\n##")[0]
        items = [" ".join(item.split()) for item in re.findall(r"^- `.*?(?=^- |^$)", section, re.MULTILINE | re.DOTALL)]
        self.assertEqual(items, expected, "docs/lines.md: the list is not what thor says; it should be\n" + "\n".join(expected))

    def test_every_key_is_in_the_reference(self):
        reference = (ROOT / "docs/configuration.md").read_text()
        for path in thor("schema", "--format", "keys").stdout.split():
            self.assertIn(f"`{path.rpartition('.')[2]}`", reference.replace("{fixed: 3}", "`fixed`"))


class Completion(Case):
    def ask(self, *words):
        """Completions that bash offers for the last word."""
        script = 'source <("$0" completion bash) || exit 9\n' \
                 'function=$(complete -p thor | sed "s/.*-F *//; s/ .*//")\n' \
                 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$function"\nprintf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, *command_line(*words)], capture_output=True, text=True,
                              cwd=self.folder, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split()

    def test_commands(self):
        self.assertGreaterEqual(len(commands()), 9)
        self.assertEqual(set(self.ask("thor", "")), {*commands(), "--help", "--version"})
        self.assertEqual(self.ask("thor", "che"), ["check"])

    def test_options(self):
        self.assertEqual(self.ask("thor", "run", "a.yaml", "--prec"), ["--precision"])
        self.assertIn("--no-trial", self.ask("thor", "check", "-"))
        for command in commands():
            with self.subTest(command):
                told = thor(command, "--help").stdout
                options = re.findall(r"^ +((?:-\w,)?--[a-z-]+(?:,--[a-z-]+)*)", told, re.M)
                listed = {"--help", *(word for option in options for word in option.split(",") if word.startswith("--"))}
                self.assertEqual({w for w in self.ask("thor", command, "-") if w.startswith("--")}, listed)

    def test_keys(self):
        keys = thor("schema", "--format", "keys").stdout.split()
        self.assertEqual(self.ask("thor", "run", "a.yaml", "--set", "data"), [k + "=" for k in keys if k.startswith("data")])
        self.assertEqual(self.ask("thor", "check", "a.yaml", "--set", "dataset.dust.al"), ["dataset.dust.albedo="])

    def test_words_of_options(self):
        self.write("", "some.yaml")  # a file is not one of them
        self.assertEqual(self.ask("thor", "run", "some.yaml", "--precision", ""), ["single", "double"])
        self.assertEqual(self.ask("thor", "run", "some.yaml", "--progress", "p"), ["plain"])
        self.assertEqual(self.ask("thor", "schema", "--format", ""), ["json", "markdown", "keys"])
        self.assertEqual(self.ask("thor", "completion", ""), ["bash", "zsh"])

    def test_templates_and_files(self):
        self.assertEqual(self.ask("thor", "init", ""), list(TEMPLATES + TEMPLATES_OF_GRIDS))
        self.assertEqual(self.ask("thor", "init", "du"), ["dusty_slab"])
        self.write("", "some.yaml")
        self.assertEqual(self.ask("thor", "run", "so"), ["some.yaml"])
        self.assertEqual(self.ask("thor", "run", "some.yaml", "-o", "so"), ["some.yaml"])

    def zsh(self, script):
        if not shutil.which("zsh"):
            skip_loudly(self, "zsh is not installed")
        done = subprocess.run(["zsh", "-fc", script, *command_line()], capture_output=True, text=True, timeout=20,
                              cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_zsh_loads_it(self):
        told = self.zsh('autoload -U compinit && compinit -u -D; source <("$0" completion zsh) && print -r -- "$_comps[thor]" '
                        '&& whence -w ${_comps[thor]##* }')
        self.assertRegex(told, r"_thor\w*\n_thor\w*: function\n$")

    def test_zsh_finds_it_where_it_is_installed(self):
        """A file _thor on the fpath: compinit looks for #compdef in its first line."""
        told = self.zsh('mkdir f && "$0" completion zsh > f/_thor && fpath=($PWD/f $fpath) && autoload -U compinit && '
                        'compinit -u -D && print -r -- "[$_comps[thor]]"')
        self.assertNotIn("[]", told)


class Manual(Case):
    def test_renders_without_warnings(self):
        if not shutil.which("groff"):
            skip_loudly(self, "groff is not installed")
        page = self.write(thor("manual").stdout, "thor.1")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-k", page], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
        for command in commands():
            self.assertRegex(shown, rf"(?m)^thor {command}$")
            self.assertRegex(shown, rf"(?m)^ +thor {command}\b.*options")
        status = shown.partition("EXIT STATUS")[2]
        for code, meaning in ((0, "done"), (1, "internal"), (2, "usage"), (3, "input"), (4, "device"), (5, "stopped"),
                              (6, "output")):
            self.assertRegex(status, rf"(?m)^ +{code} +\w*.*{meaning}")
        for word in ("--max-walltime", "NO_COLOR", "--no-trial", ".partial"):
            self.assertIn(word, shown.replace("\u2010", "-").replace("\u2212", "-"))


if __name__ == "__main__":
    main()
