"""Child processes; with a shell as the child."""

import io
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from thor.child import call


def shell(script, echo=None):
    return call(["sh", "-c", script], echo)


class CallTest(unittest.TestCase):
    def test_code_and_text(self):
        echo = io.StringIO()
        self.assertEqual(shell("echo one; echo two >&2; exit 3", echo), (3, "one\ntwo\n"))
        self.assertEqual(echo.getvalue(), "one\ntwo\n")
        self.assertEqual(shell("kill -KILL $$"), (-signal.SIGKILL, ""))
        with self.assertRaises(FileNotFoundError):
            call(["/no/such/program"])

    def test_text_is_shown_as_it_comes(self):
        class Echo(io.StringIO):
            def write(self, text):
                Path(folder, "shown").touch()
                return super().write(text)

        with tempfile.TemporaryDirectory() as folder:
            _, said = shell(f"echo one; until [ -e {folder}/shown ]; do sleep 0.01; done; echo two", Echo())
        self.assertEqual(said, "one\ntwo\n")

    def test_split_and_broken_characters(self):
        _, said = shell(r"printf '\316'; sleep 0.1; printf '\261 \316'")
        self.assertEqual(said, "α \ufffd")

    def test_terminal(self):
        """On a terminal the child draws a live line, which is not part of its messages."""
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        script = r"[ -t 2 ] && printf '\r50 %%\033[K\r\033[K\033[31;1mdone\033[0m\n' >&2"
        with os.fdopen(its, "w") as echo:
            code, said = shell(script, echo)
        self.assertEqual((code, said), (0, "done\n"))
        self.assertEqual(os.read(ours, 1000), b"\r50 %\x1b[K\r\x1b[K\x1b[31;1mdone\x1b[0m\r\n")

    def test_stderr_that_cannot_be_written(self):
        echo = io.StringIO()
        echo.close()
        self.assertEqual(shell("echo one", echo), (0, "one\n"))

    def test_an_error_in_python_ends_the_child(self):
        class Broken(io.StringIO):
            def write(self, text):
                pids.append(int(text))
                raise RuntimeError

        pids = []
        with self.assertRaises(RuntimeError):
            shell("echo $$; exec sleep 60", Broken())
        with self.assertRaises(ProcessLookupError):
            os.kill(pids[0], 0)

    def test_handlers_are_put_back(self):
        before = signal.getsignal(signal.SIGINT)
        shell("true")
        self.assertIs(signal.getsignal(signal.SIGINT), before)

    def test_in_another_thread(self):
        got = []
        thread = threading.Thread(target=lambda: got.append(shell("echo one")))
        thread.start()
        thread.join()
        self.assertEqual(got, [(0, "one\n")])

    def test_another_handler_of_interrupts(self):
        """A handler that raises nothing: the child is interrupted, then the handler is called."""
        class Echo(io.StringIO):
            def write(self, text):
                if "ready" in text:
                    os.kill(os.getpid(), signal.SIGINT)
                return super().write(text)

        calls = []
        before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
        self.addCleanup(signal.signal, signal.SIGINT, before)
        code, said = shell("trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done", Echo())
        self.assertEqual((code, said, len(calls)), (5, "ready\ncaught\n", 1))

    def test_ignored_interrupts_stay_ignored(self):
        """As under nohup, or in the background of a script."""
        script = "import thor.child as c; print(c.call(['sh', '-c', 'kill -INT $PPID; echo one']))"
        done = subprocess.run(
            [sys.executable, "-c", script],
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stdout, "(0, 'one\\n')\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
