"""Faults of a run: unwritable outputs, limits, signals, extreme values. Not repeated from test_exit_codes.py and
test_stopping.py: bad usage, an output without a path, the first SIGINT and SIGTERM, the wall-clock limit, caps counted as lost.

    /usr/bin/python3 tests/e2e/test_run_faults.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Tests that need more than numpy and h5py are skipped
loudly if it is missing.
"""

import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere, wide_spectra  # noqa: E402
from support import (  # noqa: E402
    C, Case, DEVICE, DONE, INPUT, OUTPUT, STOPPED, UNRELIABLE, USAGE, as_nobody, command_line, limited, main, mounted,
    thor, wait_for, without)
from mutations import CONFLICTS, documents  # noqa: E402


class RunFaults(Case):
    def refuse(self, code, config, *arguments, says=(), **options):
        """A run that fails as it should, and leaves no file."""
        path = self.write(config)
        before = sorted(p for p in self.folder.rglob("*"))
        done = subprocess.run(command_line("run", path, *arguments), capture_output=True, text=True, timeout=60,
                              cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(done.stderr, pattern)
        self.assertEqual(sorted(p for p in self.folder.rglob("*")), before)
        return done

    def test_gas_that_cannot_be(self):
        amounts = {"tau0": "{}", "column_density": "{} cm^-2", "number_density": "{} cm^-3", "temperature": "{} K"}
        for key, value in amounts.items():
            config = sphere(1, 10)
            if key != "temperature":
                del config["dataset"]["tau0"]
            for number in ("0", "-1", "nan", "inf", "1e999"):
                with self.subTest(key=key, number=number):
                    config["dataset"][key] = value.format(number)
                    self.refuse(USAGE, config, says=rf"config\.yaml:\d+:\d+: dataset.{key}: (must be > 0|expected a )")

    def test_messages_say_what_to_do(self):
        for name, override, says in CONFLICTS[2:13]:
            with self.subTest(override):
                self.refuse(USAGE, "\n".join(documents()[name].lines), "--set", override, says=says)

    def test_an_existing_result_is_kept_to_the_byte(self):
        """Refused without --overwrite; with it the old one stays until the new one is whole."""
        config = sphere(1, 2000)
        out = self.run_thor(config)
        old = out.read_bytes()
        self.refuse(OUTPUT, config, "-o", out, says="exists.*--overwrite")
        self.assertEqual(out.read_bytes(), old)
        self.refuse(OUTPUT, config, "-o", out, "--overwrite", says="[Ff]ile too large.*ulimit -f",
                    **limited(resource.RLIMIT_FSIZE, 2000))
        self.assertEqual(out.read_bytes(), old)

    def test_a_second_interrupt_leaves_the_old_result(self):
        out = self.run_thor(sphere(1, 100))
        old = out.read_bytes()
        job = subprocess.Popen(command_line("run", self.write(ENDLESS), "-o", out, "--overwrite", "--threads", 1, "--drain", 1000,
                                            "--device", "cpu", "--progress", "never"), stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        partial = out.with_name(out.name + ".partial")
        self.assertTrue(wait_for(partial.exists))
        job.send_signal(signal.SIGINT)
        line = job.stderr.readline()
        self.assertIn("stopping", line)
        self.assertIn("once more ends at once", line)
        time.sleep(0.2)  # within 0.1 s of the first it would be the same wish
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, -signal.SIGINT)
        self.assertEqual(out.read_bytes(), old)
        # What is left of it is no result.
        if partial.exists():
            done = thor("info", partial)
            self.assertEqual(done.returncode, INPUT, done.stdout)
            self.assertIn(str(partial), done.stderr)

    def test_a_signal_in_mid_run_is_seen_afterwards(self):
        """thor info and the Python package both say that the run was cut."""
        jobs = {}
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.folder / f"{number}.h5"
            jobs[number] = out, subprocess.Popen(
                command_line("run", self.write(ENDLESS), "-o", out, "--drain", 0, "--threads", 1), stderr=subprocess.PIPE,
                text=True)
            self.addCleanup(lambda job=jobs[number][1]: job.poll() is None and job.kill())
        for number, (out, job) in jobs.items():
            self.assertTrue(wait_for(out.with_name(out.name + ".partial").exists))
        for number, (out, job) in jobs.items():
            job.send_signal(number)
            _, told = job.communicate(timeout=60)
            self.assertEqual(job.returncode, STOPPED, told)
            self.assert_closed(out)
            self.assertRegex(thor("info", out).stdout, "complete +NO: it was cut")
            self.assertFalse(json.loads(thor("info", out, "--json").stdout)["complete"])

    def test_no_permission_in_the_folder(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        with as_nobody(self, self.folder) as options:
            self.refuse(OUTPUT, sphere(1, 10), "-o", "locked/out.h5",
                        says="no file can be created in 'locked': Permission denied; change its permissions", **options)

    def test_read_only_file_system(self):
        with mounted(self, self.folder / "disk", "ro,size=100k"):
            self.refuse(OUTPUT, sphere(1, 10), "-o", "disk/out.h5", says="Read-only file system.*write elsewhere")

    def test_full_disk(self):
        """Where not even the spectra fit, found before the run, in mid-run, and at the end: no file is left, and its space
        is free again. What does fit is kept: test_disk.py."""
        for photons, more in ((200_000, ()), (200_000, ("--max-walltime", 50)), (2000, ("--max-walltime", 50))):
            with self.subTest(photons=photons, more=more):
                shutil.rmtree(self.folder / "disk", ignore_errors=True)
                with mounted(self, self.folder / "disk", "size=100k") as disk:
                    config = sphere(1e-3, photons, outputs=[{"type": "photons"}, *wide_spectra(1, bins=10_000)])
                    self.refuse(OUTPUT, config, "-o", "disk/out.h5", *more,
                                says="No space left on device; free some space, or write elsewhere" if more else
                                "needs .* MB, but only .* kB are free on its disk: free some space, write elsewhere")
                    left = os.statvfs(disk)
                    self.assertEqual(left.f_bfree, left.f_blocks)
                (self.folder / "disk").rmdir()

    def test_full_stdout(self):
        config, out = self.write(sphere(1, 10)), self.run_thor(sphere(1, 10))
        for arguments in (("check", config, "--no-trial"), ("check", config, "--no-trial", "--json"), ("schema",),
                          ("schema", "--format", "keys"), ("manual",), ("lines",), ("devices", "--json"), ("init",),
                          ("init", "slab", "-o", "-"), ("info", out), ("info", out, "--config"), ("completion", "zsh"),
                          ("run", config, "--replay", 3)):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run(command_line(*arguments), stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
                self.assertEqual(done.returncode, OUTPUT, done.stderr)
                self.assertIn("cannot write to the standard output", done.stderr)

    def test_outputs_that_do_not_fit_in_memory(self):
        """A run that would take days is not begun: its outputs could be counted, but not written."""
        config = sphere(1e7, 10**8, outputs=wide_spectra(3))
        says = r"config\.yaml: outputs: out of memory: 3e\+07 bins take 1\.2 GB, and .* are free; use fewer bins"
        for megabytes in (120, 400, 700):
            with self.subTest(megabytes=megabytes):
                limit = limited(resource.RLIMIT_AS, megabytes << 20)
                self.refuse(DEVICE, config, "--threads", 2, says=says, **limit)
                self.refuse(DEVICE, config, "--replay", 1, says=says, **limit)
                done = subprocess.run(command_line("check", self.write(config), "--no-trial"), capture_output=True,
                                      text=True, timeout=30, **limit)
                self.assertEqual(done.returncode, DEVICE, done.stderr)
                self.assertRegex(done.stderr, says)

    def test_little_memory_is_enough_for_a_small_run(self):
        """Each time, whichever thread allocates first."""
        path = self.write(sphere(1, 100))
        for _ in range(5):
            done = subprocess.run(command_line("run", path, "--threads", 2, "--overwrite"), capture_output=True, text=True,
                                  timeout=30, **limited(resource.RLIMIT_AS, 400 << 20))
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_threads_that_cannot_be_started(self):
        """The stacks of 4096 threads need more than there is. Threads that did start must not continue through the
        whole run."""
        self.refuse(DEVICE, ENDLESS, "--threads", 4096, "--device", "cpu", says="--threads", **limited(resource.RLIMIT_AS, 500 << 20))

    def test_threads_that_cannot_be_started_for_a_trial(self):
        done = subprocess.run(command_line("check", self.write(ENDLESS), "--threads", 4096), capture_output=True, text=True,
                              timeout=30, **limited(resource.RLIMIT_AS, 500 << 20))
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertIn("--threads", done.stderr)

    def test_wherever_memory_ends_there_is_a_message(self):
        """Memory limits from just enough to load the libraries to sufficient: no crash and no internal error in
        between."""
        if not without("sycl"):
            self.skipTest("AdaptiveCpp ends without a message")

        def run(megabytes, *arguments):
            done = subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=30, cwd=self.folder,
                                  **limited(resource.RLIMIT_AS, megabytes << 20))
            (self.folder / "out.h5").unlink(missing_ok=True)
            return done

        path, codes = self.write(sphere(1, 100)), set()
        least = next(megabytes for megabytes in range(16, 1000, 2) if run(megabytes, "--version").returncode == DONE)
        for megabytes in range(least + 2, least + 100, 2):
            for command in ("run", "check"):
                done = run(megabytes, command, path, "--threads", 2)
                codes.add(done.returncode)
                self.assertIn(done.returncode, (DONE, DEVICE), f"{command}, {megabytes} MB: {done.stderr}")
        self.assertEqual(codes, {DONE, DEVICE})

    def test_a_small_stack(self):
        """Limit as set by `ulimit -s`: a message, or a run, but no crash. Arguments and environment share the stack."""
        path = self.write(sphere(1, 100))
        for kilobytes, codes in ((64, (DEVICE,)), (1024, (DONE,)), (4096, (DONE,))):
            for words in (("run", path, "--threads", 2, "--overwrite"), ("--version",)):
                done = subprocess.run(command_line(*words), capture_output=True, text=True, timeout=60, env={},
                                      **limited(resource.RLIMIT_STACK, kilobytes << 10))
                self.assertIn(done.returncode, codes, f"{kilobytes} kB: {done.stderr}")
                self.assertEqual("ulimit -s 8192" in done.stderr, done.returncode == DEVICE)

    def test_names_that_cannot_be(self):
        self.refuse(OUTPUT, sphere(1, 10), "-o", self.folder / ("n" * 300 + ".h5"), says="File name too long: use a shorter one")
        self.refuse(USAGE, sphere(1, 10), "-o", ".h5", says="--output .h5: expected a name that ends in .h5 or .zarr, such as result.h5")

    def test_limit_on_the_size_of_files(self):
        """Limit as set by `ulimit -f`: its signal does not end the process, and a run that would be lost does not begin."""
        spectrum = {"type": "spectrum", "name": "s", "axis": "x", "range": [-9, 9], "bins": 9}
        for outputs in ([spectrum], [spectrum, {"type": "photons"}]):
            for limit, says in ((2000, "File too large; raise the limit.*ulimit -f"),
                                (20_000, r"out.h5.*needs up to \d\S* kB, but `ulimit -f` allows 20 kB per file: raise that limit")):
                self.refuse(OUTPUT, {**ENDLESS, "outputs": outputs}, says=says, **limited(resource.RLIMIT_FSIZE, limit))

    def test_more_bins_than_can_be_counted(self):
        """Cells are numbered by 32-bit integers: 107 spectra of 1e7 bins are too many. 216 wrap around to few."""
        for count in (120, 216):
            with self.subTest(spectra=count):
                path = self.write(sphere(1, 10, outputs=wide_spectra(count)))
                for arguments in (("check", path), ("run", path, "--max-walltime", 5)):
                    done = subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=30,
                                          **limited(resource.RLIMIT_AS, 1500 << 20))
                    self.assertIn(done.returncode, (USAGE, DEVICE), f"{arguments[0]}: {done.stderr}")
                    self.assertRegex(done.stderr, "bins")

    def test_more_photons_than_can_be_counted(self):
        """Ids are 64-bit integers: four sources of 2^62 photons have none left."""
        config = sphere(1, 2**62)
        config["generators"] *= 4
        self.refuse(USAGE, config, says="generators.*photons")

    def test_caps_name_the_keys_to_raise(self):
        for key in ("max_scatterings", "max_steps"):
            config = {**sphere(1e4, 200, outputs=[]), "limits": {key: 20}}
            self.run_thor(config, expect=UNRELIABLE)
            told = self.done.stderr.splitlines()[-1]
            self.assertRegex(told, r"warning: \d+ photons lost")
            self.assertIn("limits.max_scatterings", told)
            self.assertIn("max_steps", told)
            self.assertEqual("acceleration.jumps" in told, key == "max_steps", "which max_scatterings turns off")


class ExtremeValues(Case):
    """Every allowed number must work: the result is right, or the configuration is refused."""

    def run_or_refuse(self, config, *arguments):
        out = self.folder / "out.h5"
        out.unlink(missing_ok=True)
        done = thor("run", self.write(config), "-o", out, "--max-walltime", 20, *arguments)
        self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
        return out if done.returncode == DONE else None

    def assert_finite(self, out):
        def check(name, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
                self.assertTrue(np.all(np.isfinite(item[()])), name)
        with h5py.File(out) as file:
            file.visititems(check)

    def test_a_thin_shell_holds_its_gas(self):
        """A shell thinner than the resolution of single precision must not let the light through."""
        scatterings = {}
        for gap in (1e-2, 1e-4, 1e-6, 1e-7, 1e-8, 1e-10):
            out = self.run_or_refuse(sphere(300, 300, inner_radius=f"{1 - gap!r} kpc"))
            if out:
                scatterings[gap] = self.summary(out)["scatterings"] / 300
        self.assertIn(1e-2, scatterings)
        for gap, mean in scatterings.items():
            self.assertAlmostEqual(mean / scatterings[1e-2], 1, delta=0.3, msg=f"gap {gap}: {scatterings}")

    def test_dust_without_gas(self):
        for tau0 in (1e-20, 1e-35, 1e-45, 1e-300):
            with self.subTest(tau0=tau0):
                out = self.run_or_refuse(sphere(tau0, 2000, dust={"tau": 1, "albedo": 0}))
                if out:
                    self.assert_share(self.summary(out)["escaped"], 2000, math.exp(-1))

    def test_wide_sources(self):
        for spectrum in ({"type": "thermal", "temperature": "1e30 K"}, {"type": "thermal", "temperature": "1e300 K"},
                         {"type": "gaussian", "sigma": "299000 km/s"}, {"type": "delta", "offset": "1e300 km/s"},
                         {"type": "delta", "offset": "-299792 km/s"},
                         {"type": "continuum", "range": ["-299792 km/s", "1e300 km/s"]}):
            with self.subTest(**spectrum):
                out = self.run_or_refuse(sphere(1, 300, spectrum=spectrum))
                if out:
                    self.assert_finite(out)

    def test_wide_and_narrow_axes(self):
        for axis, low, high in (("x", -1e308, 1e308), ("x", 1, 1 + 2**-52), ("velocity", "-1e300 km/s", "1e300 km/s"),
                                ("wavelength", "1e-300 Angstrom", "1e300 Angstrom"), ("frequency", "1e-300 Hz", "1e308 Hz")):
            with self.subTest(axis=axis, low=low):
                outputs = [{"type": "spectrum", "name": "s", "axis": axis, "range": [low, high], "bins": 30}]
                out = self.run_or_refuse(sphere(1, 300, outputs=outputs))
                if out:
                    self.assert_finite(out)
                    with h5py.File(out) as file:
                        self.assertTrue(np.all(np.diff(file["spectra/s/edges"][()]) > 0), "edges that do not increase")

    def test_hot_gas_stays_slower_than_light(self):
        for kelvin in (1e12, 1e20, 1e300):
            with self.subTest(kelvin=kelvin):
                out = self.run_or_refuse(sphere(1, 100, temperature=f"{kelvin} K"))
                if out:
                    with h5py.File(out) as file:
                        self.assertLess(file.attrs["thermal_velocity"], C)

    def test_large_and_small(self):
        for radius in ("1e-300 cm", "1e300 cm"):
            with self.subTest(radius=radius):
                out = self.run_or_refuse(sphere(10, 100, outer_radius=radius))
                if out:
                    self.assert_finite(out)


if __name__ == "__main__":
    main()
