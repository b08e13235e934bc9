"""The snippets of README.md run."""

import contextlib
import io
import os
import re
import unittest
from pathlib import Path

from support import WithFiles, need_thor, skip_loudly

PYTHON = Path(__file__).resolve().parent.parent


def setUpModule():
    need_thor()


class SnippetsTest(WithFiles):
    def test_readme(self):
        try:
            import astropy  # noqa: F401
            import matplotlib
        except ImportError as error:
            skip_loudly(f"snippets of README.md: {error}")
        matplotlib.use("Agg")
        back = os.getcwd()
        self.addCleanup(os.chdir, back)
        os.chdir(self.folder)
        text = (PYTHON / "README.md").read_text(encoding="utf-8")
        snippets = re.findall(r"^```python(?: run)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(snippets), 5)
        names = {}
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            with matplotlib.rc_context():
                for snippet in snippets:
                    exec(compile(snippet, "README.md", "exec"), names)
                matplotlib.pyplot.close("all")
        self.assertTrue(Path("sphere.png").exists())
        self.assertEqual(len(names["sweep"]), 4)


if __name__ == "__main__":
    unittest.main()
