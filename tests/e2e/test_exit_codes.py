"""Exit codes and messages of the thor command.

    /usr/bin/python3 tests/e2e/test_exit_codes.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import h5py

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, MEDIA, slab  # noqa: E402
from support import Case, DEVICE, DONE, OUTPUT, STOPPED, UNRELIABLE, USAGE, command_line, main, text, thor  # noqa: E402


class ExitCodes(Case):
    """A failure leaves no file behind."""

    def refuse(self, code, *arguments, says=(), **options):
        before = sorted(p.name for p in self.folder.rglob("*"))
        done = thor(*arguments, cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        for words in [says] if isinstance(says, str) else says:
            self.assertRegex(done.stderr, words)
        self.assertEqual(done.stdout, "", "messages go to stderr")
        self.assertEqual(sorted(p.name for p in self.folder.rglob("*")), before, arguments)
        return done

    def refuse_set(self, key, value, says=(), config=None):
        path = self.write(config or MEDIA["static sphere"])
        return self.refuse(USAGE, "run", path, "--set", f"{key}={value}", says=says)

    def test_done(self):
        for arguments in (("--version",), ("--help",), ("run", "--help"), ("devices",)):
            done = thor(*arguments)
            self.assertEqual(done.returncode, DONE)
            self.assertTrue(done.stdout)

    def test_usage(self):
        config = self.write(MEDIA["static sphere"])
        self.refuse(USAGE, says="subcommand")
        self.refuse(USAGE, "fly")
        self.refuse(USAGE, "run")
        self.refuse(USAGE, "run", config, "--speed", "11", says="--speed")
        self.refuse(USAGE, "run", config, "--threads", "0")
        self.refuse(USAGE, "run", config, "--threads", "many")
        self.refuse(USAGE, "run", config, "--device", "abacus")
        self.refuse(USAGE, "run", config, "--precision", "half")
        self.refuse(USAGE, "run", config, "--seed", "-1")
        self.refuse(USAGE, "run", config, "--seed", "one")
        self.refuse(USAGE, "run", config, "--max-walltime", "0")
        self.refuse(USAGE, "run", config, "--set", "dataset.tau0")
        self.refuse(USAGE, "run", "missing.yaml", says="missing.yaml")
        self.refuse(USAGE, "run", self.folder, says="directory")

    def test_broken_yaml(self):
        for broken in ("driver: [mcrt", "driver: mcrt\n  line: Lya\n\tx", "", "just words", "- a\n- b", "a: b: c: d", ","):
            path = self.write(broken, "broken.yaml")
            self.refuse(USAGE, "run", path, says="broken.yaml")

    def test_unknown_key_names_place_and_nearest(self):
        lines = ["driver: mcrt", "line: Lya", "dataset:", "  type: shell", "  outer_radius: 1 kpc",
                 "  temprature: 1e4 K", "  tau0: 1", "generators:", "  - {type: point, photons: 10}",
                 "output: {path: out.h5}"]
        path = self.write("\n".join(lines), "typo.yaml")
        self.refuse(USAGE, "run", path, says=(r"typo\.yaml:6:3\b.*temprature", "temperature"))

    def test_repeated_key(self):
        path = self.write("driver: mcrt\nline: Lya\nline: Lya\n", "twice.yaml")
        self.refuse(USAGE, "run", path, says=r"twice\.yaml:3:1\b.*line")

    def test_impossible_values(self):
        for value in ("nan K", ".nan K", "inf K", "0 K", "-1 K", "1e4", "1e4 km"):
            self.refuse_set("dataset.temperature", value, "temperature")
        self.refuse_set("dataset.inner_radius", "1 kpc", "inner_radius")
        self.refuse_set("dataset.inner_radius", "2 kpc", "inner_radius")
        self.refuse_set("generators.0.position", "[1.01 kpc, 0 kpc, 0 kpc]", "generators.0.position")
        self.refuse_set("generators.0.position", "[0 kpc, 0 kpc, 1.01 kpc]", "generators.0.position", slab(1e3, 10))
        self.refuse_set("generators.0.photons", "0", "photons")
        self.refuse_set("dataset.tau0", "0", "tau0")
        self.refuse_set("dataset.tau0", "1e16", "tau0")
        self.refuse_set("dataset.dust", "{tau: 1, albedo: 1.5}", "albedo")
        self.refuse_set("dataset.velocity", "{profile: linear, max: 3e5 km/s}", "velocity")

    def test_diverging_profiles(self):
        for exponent in (-1, -2):
            self.refuse_set("dataset.density", f"{{profile: power_law, exponent: {exponent}}}", "density.*diverges")
        self.refuse_set("dataset.velocity", "{profile: power_law, exponent: -0.5, max: 10 km/s}", "velocity.max")
        self.refuse_set("dataset.velocity", "{profile: power_law, exponent: -1, average: 10 km/s}", "velocity.*diverges")

    def test_no_gpu(self):
        """Without the backend, or without a GPU: the reason and the alternatives."""
        told = thor("devices").stdout
        if re.search(r"device (cuda|hip):0", told):
            self.skipTest("there is a GPU")
        reason = "not in this build" if re.search(r"cuda +not in this build", told) else "CUDA|NVIDIA"
        config = self.write(MEDIA["static sphere"])
        for name in ("cuda", "cuda:0"):
            self.refuse(DEVICE, "run", config, "--device", name, says=(reason, "devices here: cpu"))
        self.run_thor(MEDIA["static sphere"], "--device", "auto")
        with h5py.File(self.folder / "run1.h5") as file:
            self.assertTrue(text(file.attrs["device"]).startswith("cpu: "))

    def test_output_exists(self):
        config = self.write(MEDIA["static sphere"])
        out = self.folder / "out.h5"
        out.write_text("precious")
        self.refuse(OUTPUT, "run", config, "-o", out, says="--overwrite")
        self.assertEqual(out.read_text(), "precious")
        self.assertEqual(thor("run", config, "-o", out, "--overwrite").returncode, DONE)
        self.assert_closed(out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["config.yaml", "out.h5"])

    def test_output_has_no_place(self):
        config = self.write(MEDIA["static sphere"])
        self.refuse(OUTPUT, "run", config, "-o", "missing/out.h5", says="missing")
        (self.folder / "folder.h5").mkdir()
        self.refuse(OUTPUT, "run", config, "-o", "folder.h5", says="directory")
        (self.folder / "folder.h5").rmdir()
        self.refuse(OUTPUT, "run", config, "-o", "config.yaml/out.h5")
        self.refuse(OUTPUT, "run", config, "-o", "/proc/out.h5", says="/proc")
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        if os.geteuid() != 0:
            self.refuse(OUTPUT, "run", config, "-o", locked / "out.h5", says="[Pp]ermission")

    def test_relative_output_lies_beside_the_configuration(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.write(MEDIA["static sphere"])
        done = thor("run", "../config.yaml", cwd=elsewhere)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertTrue((self.folder / "out.h5").exists())
        self.assertEqual(os.listdir(elsewhere), [])

    def test_stderr_that_cannot_be_written(self):
        """A log on a full disk, or a closed stderr, does not cost the run."""
        def closed():
            os.close(2)

        short, cut = MEDIA["static sphere"], {**ENDLESS, "limits": {"max_scatterings": 10**7}}
        for name, config, arguments, code in (("end", short, (), DONE),
                                              ("cut", cut, ("--max-walltime", "0.1", "--drain", "0", "--device", "cpu"), STOPPED),
                                              ("warning", {**short, "limits": {"max_scatterings": 10}}, (), UNRELIABLE)):
            path = self.write(config, name + ".yaml")
            for how in ("full", "closed"):
                with self.subTest(run=name, stderr=how), open("/dev/full", "w") as full:
                    out = self.folder / f"{name}-{how}.h5"
                    job = command_line("run", path, "-o", out, *arguments)
                    if how == "full":
                        done = subprocess.run(job, stderr=full, timeout=60)
                    else:
                        done = subprocess.run(job, preexec_fn=closed, timeout=60)
                    self.assertEqual(done.returncode, code)
                    self.assert_closed(out)

    def test_quiet(self):
        self.run_thor(MEDIA["static sphere"], "--quiet")
        self.assertEqual(self.done.stderr + self.done.stdout, "")


if __name__ == "__main__":
    main()
