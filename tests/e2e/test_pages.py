"""The examples of the manual run: every page's blocks that are marked, in order, in one empty folder.

    /usr/bin/python3 tests/e2e/test_pages.py --thor build/release/thor [PAGE.md ...] [unittest arguments]

    ```sh run            commands for bash; the first that fails ends the page
    ```python run        a script
    ```yaml file=NAME    is written to NAME (of any language; with "run" as well it is run, too)

`thor` and a `python3` with numpy, h5py, matplotlib and the package are on the PATH. A failure is reported as FILE:LINE, the line
of the command in the page. The blocks of a page should take at most 5 s together; with -v their times are printed.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import check_links  # noqa: E402
from support import Case, ROOT, command_line, main, skip_loudly  # noqa: E402

CHOSEN = []
LIMIT = 60  # s, of one block
FENCE = re.compile(r"( *)(`{3,}|~{3,})\s*(.*?)\s*")
RUNNERS = {"sh": "bash", "bash": "bash", "python": "python3"}


class Fault(Exception):
    """FILE:LINE: what is wrong."""


@dataclass
class Block:
    line: int  # of its first line, from 1
    language: str
    text: str
    run: bool = False
    file: str = ""


def marked_blocks(name, text):
    """The blocks of a page that are run or written, in order."""
    found, block, closing = [], None, None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.fullmatch(line)
        if closing:
            if fence and fence[2].startswith(closing) and not fence[3]:
                closing = None
            else:
                block.text += line[min(indent, len(line) - len(line.lstrip())):] + "\n"
        elif fence:
            indent, closing = len(fence[1]), fence[2]
            language, *marks = fence[3].split() or [""]
            block = Block(number + 1, language, "")
            for mark in marks:
                key, _, value = mark.partition("=")
                if key == "file" and value and not value.startswith("/") and ".." not in Path(value).parts:
                    block.file = value
                elif mark == "run" and language in RUNNERS:
                    block.run = True
                else:
                    raise Fault(f'{name}:{number}: "{mark}" marks no block of {language or "text"}: run (sh, python) or file=NAME')
            if marks:
                found.append(block)
    if closing:
        raise Fault(f"{name}:{block.line - 1}: the block has no end")
    return found


def run_page(name, text, folder, environment):
    """Runs the blocks of a page; how many ran."""
    work, scripts = folder / "work", folder / "scripts"
    work.mkdir()
    scripts.mkdir()
    ran = 0
    for block in marked_blocks(name, text):
        if block.file:
            (work / block.file).parent.mkdir(parents=True, exist_ok=True)
            (work / block.file).write_text(block.text, encoding="utf-8")
        if not block.run:
            continue
        # Lines of the script have the numbers that they have in the page.
        script = scripts / name.replace("/", "+")
        lines = ["\n"] * (block.line - 1)
        if RUNNERS[block.language] == "bash":
            lines[0] = f"set -eo pipefail; trap 'echo $LINENO > {scripts}/failed' ERR\n"
        script.write_text("".join(lines) + block.text.replace("/usr/bin/python3", "python3"), encoding="utf-8")
        (scripts / "failed").unlink(missing_ok=True)
        try:
            done = subprocess.run([RUNNERS[block.language], script], cwd=work, env=environment, text=True, timeout=LIMIT,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            raise Fault(f"{name}:{block.line}: the block has not ended after {LIMIT} s") from None
        if done.returncode:
            line = block.line
            if (scripts / "failed").exists():
                line = int((scripts / "failed").read_text())
            elif trace := re.findall(rf'{re.escape(str(script))}(?:", |: )line (\d+)', done.stdout):
                line = int(trace[-1])
            what = text.splitlines()[line - 1].strip()
            raise Fault(f"{name}:{line}: exit code {done.returncode}: {what}\n{done.stdout}")
        ran += 1
    return ran


class Pages(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("bash"):
            skip_loudly(self, "there is no bash")
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "thor").symlink_to(Path(command_line()[0]).resolve())
        python = programs / "python3"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "python"),
                            "MPLBACKEND": "Agg", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def page(self, name, text):
        folder = self.folder / name.replace("/", "+")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return run_page(name, text, folder, self.environment)

    def test_examples_run(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            skip_loudly(self, str(error))
        examples = 0
        files = [Path(name).resolve() for name in CHOSEN] or check_links.markdown_files(ROOT)
        for path in files:
            name = path.relative_to(ROOT).as_posix()
            with self.subTest(name):
                started = time.monotonic()
                try:
                    ran = self.page(name, path.read_text(encoding="utf-8"))
                except Fault as fault:
                    self.fail(str(fault))
                examples += ran
                if "-v" in sys.argv and ran:
                    print(f"{name}: {ran} blocks, {time.monotonic() - started:.1f} s", file=sys.stderr)
        self.assertGreater(examples, 0 if CHOSEN else 15, "hardly anything has been run")

    def test_planted_faults_are_found(self):
        """A fault is reported with the page and the line of the command."""
        good = "# A page\n\n```yaml file=a/b.yaml\nkey: 1\n```\n\n```sh run\ngrep -q 'key: 1' a/b.yaml\n{}\n```\n"
        self.assertEqual(self.page("docs/good.md", good.format("thor --version > v.txt") + "\n```python run\nopen('v.txt')\n```\n"), 2)
        for what, (text, line, clue) in {
            "a command that fails": (good.format("thor run nowhere.yaml"), 9, "thor run nowhere.yaml"),
            "a command in a pipe": (good.format("thor run nowhere.yaml 2>&1 | cat"), 9, "exit code"),
            "an option that is not there": (good.format("thor devices --no-such-option"), 9, "--no-such-option"),
            "an unknown command": (good.format("no-such-command"), 9, "no-such-command"),
            "a script that fails": ("# A\n\n```python run\nx = 1\nassert x == 2\n```\n", 5, "assert x == 2"),
            "a script that is none": ("# A\n\n```python run\nx = 1\nif:\n```\n", 5, "SyntaxError"),
            "a file of another page": ("# A\n\n```sh run\ncat a/b.yaml\n```\n", 4, "cat a/b.yaml"),
            "an unknown mark": ("# A\n\n```sh runs\nls\n```\n", 3, "runs"),
            "a language that cannot run": ("# A\n\n```yaml run\na: 1\n```\n", 3, "run"),
            "a file outside": ("# A\n\n```yaml file=../a.yaml\na: 1\n```\n", 3, "file="),
            "a block without end": ("# A\n\n```sh run\nls\n", 3, "no end"),
        }.items():
            with self.subTest(what):
                with self.assertRaises(Fault) as caught:
                    self.page("docs/planted.md", text)
                first, _, rest = str(caught.exception).partition(": ")
                self.assertEqual(first, f"docs/planted.md:{line}")
                self.assertIn(clue, rest)

    def test_unmarked_blocks_are_left_alone(self):
        text = "# A\n\n```sh\nfalse\n```\n\n````\n```sh run\nfalse\n```\n````\n\n- item\n\n  ```sh run\n  true\n  ```\n"
        self.assertEqual(self.page("docs/unmarked.md", text), 1)


if __name__ == "__main__":
    CHOSEN = [word for word in sys.argv[1:] if word.endswith(".md")]
    sys.argv = [word for word in sys.argv if word not in CHOSEN]
    main()
