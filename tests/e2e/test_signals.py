"""Signals: termination signals end a run in an orderly way, ignored ones stay ignored, and a closed pipe does no harm.

    /usr/bin/python3 tests/e2e/test_signals.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from configurations import ENDLESS, sphere  # noqa: E402
from support import Case, DONE, STOPPED, command_line, held, main, thor, wait_for  # noqa: E402


class Signals(Case):
    def start(self, *arguments, **options):
        job = subprocess.Popen(command_line(*arguments), stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        return job

    def endless(self, name, **options):
        """A run in progress that does not end by itself."""
        out = self.folder / f"{name}.h5"
        job = self.start("run", self.write(ENDLESS), "-o", out, "--drain", 0, "--threads", 1, "--progress", "never",
                         "--device", "cpu", **options)
        self.assertTrue(wait_for(self.partial(out).exists))
        return out, job

    def second(self, job, first, number):
        """Sends the second signal once the first one has had its effect, and more than 0.1 s later: then it is another."""
        job.send_signal(first)
        line = job.stderr.readline()
        self.assertIn("once more ends at once", line)
        time.sleep(0.2)
        job.send_signal(number)
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, -number)

    def partial(self, out):
        return out.with_name(out.name + ".partial")

    def assert_marked(self, out, job):
        _, told = job.communicate(timeout=30)
        self.assertEqual(job.returncode, STOPPED, told)
        self.assertFalse(self.partial(out).exists())
        self.assert_closed(out)
        self.assertFalse(self.summary(out)["complete"])

    def test_each_of_them_ends_a_run_in_order(self):
        jobs = {number: self.endless(number.name) for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                                                                 signal.SIGUSR2, signal.SIGXCPU)}
        for number, (out, job) in jobs.items():
            with self.subTest(number.name):
                job.send_signal(number)
                self.assert_marked(out, job)

    def test_what_is_ignored_stays_ignored(self):
        """Starts a program like nohup and a shell's background jobs."""
        for number in (signal.SIGHUP, signal.SIGINT):
            with self.subTest(number.name):
                out, job = self.endless(number.name, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
                masks = dict(line.split(":\t") for line in Path(f"/proc/{job.pid}/status").read_text().splitlines())
                self.assertTrue(int(masks["SigIgn"], 16) >> (number - 1) & 1)
                self.assertFalse(int(masks["SigCgt"], 16) >> (number - 1) & 1)
                job.send_signal(number)
                job.send_signal(signal.SIGTERM)
                self.assert_marked(out, job)

    def test_the_second_one_leaves_nothing(self):
        for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGHUP)):
            with self.subTest(second.name):
                out = self.folder / f"{second.name}.h5"
                job = self.start("run", self.write(ENDLESS), "-o", out, "--drain", 1000, "--threads", 1, "--device", "cpu",
                                 "--progress", "never")
                self.assertTrue(wait_for(self.partial(out).exists))
                self.second(job, first, second)
                self.assertFalse(self.partial(out).exists() or out.exists())

    def test_two_at_once_count_as_one(self):
        """timeout(1) sends its signal to the process and to the process group. While a process is stopped, two signals of one
        kind become one."""
        out, job = self.endless("twice")
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
            job.send_signal(number)
        self.assert_marked(out, job)

    def test_a_closed_stderr_does_not_end_a_run(self):
        """`thor run ... 2>&1 | head -1`: the first warning, or the summary, has no reader."""
        config = sphere(1, 100, outputs=[])
        config["generators"].append({"type": "point", "photons": 100, "luminosity": "1e32 erg/s"})
        out = self.folder / "out.h5"
        job = self.start("run", self.write(config), "-o", out)
        job.stderr.close()
        self.assertEqual(job.wait(30), DONE)
        self.assertEqual(self.summary(out)["photons"], 200)

    def test_a_reader_that_has_enough_is_no_error(self):
        """`thor schema | head -1`: no message, as with other programs."""
        job = subprocess.Popen(command_line("schema"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        job.stdout.close()
        self.assertEqual(job.stderr.read(), "")
        job.stderr.close()
        self.assertEqual(job.wait(20), -signal.SIGPIPE)

    def test_a_mock_and_a_grid_leave_nothing(self):
        snapshot = self.folder / "snapshot.hdf5"
        self.assertEqual(thor("mock", "galaxy", "--gas-particles", "2e4", "--stars", 10, "-o", snapshot).returncode, DONE)
        commands = {"mock.hdf5": ("mock", "galaxy", "--gas-particles", "2e4"),
                    "grid.h5": ("grid", snapshot, "--cells", 40), "grid.zarr": ("grid", snapshot, "--cells", 40)}
        for name, command in commands.items():
            with self.subTest(name):
                out = self.folder / name
                job = self.start(*command, "-o", out, "--threads", 1, stdout=subprocess.DEVNULL, **held("writing"))
                self.assertTrue(wait_for(lambda: self.partial(out).exists() or job.poll() is not None))
                job.send_signal(signal.SIGHUP)
                _, told = job.communicate(timeout=60)
                self.assertEqual(job.returncode, STOPPED, told)
                self.assertFalse(self.partial(out).exists() or out.exists())


if __name__ == "__main__":
    main()
