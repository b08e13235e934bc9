"""A supervised child process: its messages are shown as they are written, Ctrl-C reaches it once, and it
does not outlive this process."""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any, TextIO

_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def _end_with_parent() -> None:
    """In the child, on Linux: asks for an orderly stop if Python is killed."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


class _Interrupts:
    """Passes each Ctrl-C to the child and, once it has ended, to the previous handler.

    A second SIGINT makes thor end at once without a result. So it must receive each Ctrl-C exactly once: the
    child has its own session, and the terminal's signal reaches only Python. This works only in the main
    thread; in others the child stays in our process group instead.
    """

    def __init__(self) -> None:
        before = signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        self.ours = in_main and callable(before)  # not callable: ignored, as under nohup
        self._before: Any = before
        self._child: subprocess.Popen[bytes] | None = None
        self._early = False
        self.came = False

    def __enter__(self) -> _Interrupts:
        if self.ours:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self.ours:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, _: int, __: FrameType | None) -> None:
        self.came = True
        if self._child is None:
            self._early = True
        else:
            self._child.send_signal(signal.SIGINT)

    def watch(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        if self._early:
            child.send_signal(signal.SIGINT)


def _channel(terminal: bool) -> tuple[int, int]:
    """Our end and the child's; a pseudo-terminal if the child is to draw a live progress line."""
    if terminal:
        with contextlib.suppress(OSError, ImportError):
            import termios

            ours, its = os.openpty()
            settings = termios.tcgetattr(its)
            settings[1] &= ~termios.OPOST  # the real terminal turns \n into \r\n
            termios.tcsetattr(its, termios.TCSANOW, settings)
            return ours, its
    return os.pipe()


def _pass_on(source: int, echo: TextIO | None) -> str:
    """Reads until the other end is closed, and shows the text as it arrives."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    said = ""
    while True:
        try:
            data = os.read(source, 65536)
        except OSError:  # the end of a pseudo-terminal
            data = b""
        text = decoder.decode(data, final=not data)
        said += text
        if echo is not None and text:
            with contextlib.suppress(OSError, ValueError):  # a message must not end a run
                echo.write(text)
                echo.flush()
        if not data:
            return said


def _as_plain_text(text: str) -> str:
    """The text left on a terminal after the progress line has overwritten itself, without colours."""
    return re.sub(r"[^\n]*\r|\x1b\[[\d;]*[A-Za-z]", "", text)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child after an error in Python itself."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def call(command: Sequence[str], echo: TextIO | None = None) -> tuple[int, str]:
    """Runs a command to its end and returns its exit code and its messages, which are shown on ``echo`` meanwhile.

    Ctrl-C is passed on to it; once it has ended, KeyboardInterrupt is raised.
    """
    with _Interrupts() as interrupts:
        source, sink = _channel(is_terminal(echo))
        try:
            try:
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    start_new_session=interrupts.ours,
                    restore_signals=False,  # SIGPIPE stays ignored: the last messages may have no reader
                    preexec_fn=_end_with_parent,
                )
            finally:
                os.close(sink)
            try:
                interrupts.watch(child)
                said = _pass_on(source, echo)
                code = child.wait()
            finally:
                _end(child)
        finally:
            os.close(source)
    if interrupts.came:
        signal.raise_signal(signal.SIGINT)
    return code, _as_plain_text(said)
