"""The documentation: its links, its site, and its layers, which must be those enforced on the sources.

    /usr/bin/python3 tests/e2e/test_docs.py [-v] [unittest arguments]

Needs no build. The site is built with pandoc; without it those tests are skipped.
"""

import ast
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_site  # noqa: E402
import check_links  # noqa: E402
import check_pages  # noqa: E402
from browser import Browser, find_browser  # noqa: E402

SCRIPT = '<script src="site.js" defer></script>'
NO_BROWSER = "*** SKIPPED: there is no chromium: THE SITE IS NOT LOOKED AT ***"
NO_PANDOC = "*** SKIPPED: pandoc is not installed (Debian: pandoc): THE SITE IS NOT TESTED ***"


def call(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)


def copy_documentation(folder):
    """All sources of the documentation in a separate folder, with the files it links to as empty files."""
    root = Path(folder) / "thor"
    for source in check_links.markdown_files(ROOT):
        target = root / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        for link in check_links.read_markdown(source.read_text(encoding="utf-8")).links:
            name = link.target.partition("#")[0]
            there = (source.parent / name).resolve()
            if not name or check_links.is_external(name) or not there.is_relative_to(ROOT) or there.suffix == ".md":
                continue
            target = root / there.relative_to(ROOT)
            if there.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif there.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()
    return root


class Links(unittest.TestCase):
    def test_the_repository_has_no_broken_links(self):
        run = call(ROOT / "docs/check_links.py")
        self.assertEqual(run.returncode, 0, "\n" + run.stdout + run.stderr)
        files, _ = check_links.check_repository(ROOT)
        self.assertGreaterEqual(files, 6, "it has checked hardly anything")

    def test_what_is_planted_is_found(self):
        planted = {
            "a file that is not there": ("See [this](no-such-page.md).", "no-such-page.md"),
            "an anchor that is not there": ("See [this](physics.md#no-such-section).", "no-such-section"),
            "an anchor of the page itself": ("See [above](#nowhere).", "nowhere"),
            "a missing image": ("![a figure](figures/no-such-figure.png)", "no-such-figure.png"),
            "an image inside a link": ("[![a](figures/none.png)](physics.md)", "none.png"),
            "a link out of the repository": ("See [this](../../elsewhere.md).", "elsewhere.md"),
            "an absolute path": ("See [this](/docs/physics.md).", "absolute"),
            "a reference without definition": ("See [this][nobody].", "nobody"),
            "a definition to nowhere": ("See [this][n].\n\n[n]: nowhere.md", "nowhere.md"),
            "a link in HTML": ('<img src="figures/nothing.svg">', "nothing.svg"),
        }
        with tempfile.TemporaryDirectory() as folder:
            root = copy_documentation(folder)
            page = root / "docs/planted.md"
            page.write_text("# Planted\n\nNothing wrong here: [physics](physics.md#dust).\n", encoding="utf-8")
            before = call(ROOT / "docs/check_links.py", "--root", root)
            self.assertNotIn("planted.md", before.stdout)
            for what, (text, clue) in planted.items():
                with self.subTest(what):
                    page.write_text(f"# Planted\n\nFirst line.\n\n{text}\n", encoding="utf-8")
                    run = call(ROOT / "docs/check_links.py", "--root", root)
                    self.assertEqual(run.returncode, 1, what)
                    found = [line for line in run.stdout.splitlines() if line.startswith("docs/planted.md:")]
                    self.assertEqual(len(found), 1, run.stdout)
                    self.assertRegex(found[0], r"^docs/planted\.md:(5|7): .*" + re.escape(clue))

    def test_code_is_left_alone(self):
        text = "# A\n\n`[a](nowhere.md)`\n\n    [b](nowhere.md)\n\n```\n[c](nowhere.md)\n# no heading\n```\n<!-- [d](nowhere.md) -->\n"
        page = check_links.read_markdown(text)
        self.assertEqual(page.links, [])
        self.assertEqual(page.anchors, {"a"})

    def test_anchors_are_those_of_github(self):
        for heading, anchor in {
            "The rest": "the-rest",
            "`dataset`": "dataset",
            "What `core_skip` does": "what-core_skip-does",
            "GPU: time, and memory!": "gpu-time-and-memory",
            "u∥ and *Lyα*": "u-and-lyα",
            "A [link](there.md) in it": "a-link-in-it",
            "0.1.0 (unreleased)": "010-unreleased",
        }.items():
            self.assertEqual(check_links.slug(heading), anchor)
        page = check_links.read_markdown("# Same\n\n## Same\n\nSetext\n------\n\n<a id=\"mine\"></a>\n")
        self.assertEqual(page.anchors, {"same", "same-1", "setext", "mine"})


class Writing(unittest.TestCase):
    """docs/check_pages.py: how pages are written."""

    LONG = " ".join(["word"] * 26)  # 129 characters

    def faults(self, text, name="docs/planted.md"):
        options = {"run": {"--set", "-o"}}
        return check_pages.check(name, text, options)

    def test_planted_faults_are_found(self):
        cell = "x" * 61
        for what, (text, line, clue) in {
            "a long line": (f"# A\n\n{self.LONG}\n", 3, "129 characters"),
            "a long line of a list": (f"# A\n\n- one\n- {self.LONG}\n", 4, "131 characters"),
            "a short line": (f"# A\n\n{self.LONG[:99]}\nmore words of it\nand the end\n", 4, "short line"),
            "a short line of a list": ("- one\n  two\n", 1, "short line"),
            "a cell": (f"# A\n\n| a | b |\n|---|---|\n| 1 | {cell} |\n", 5, "cell of 61"),
            "a long page": ("# A\n" + "\nText.\n" * 150, 301, "301 lines"),
            "a command": ("# A\n\n```sh\nthor runs a.yaml\n```\n", 4, "no command runs"),
            "an option": ("# A\n\n```sh run\nthor run a.yaml \\\n  --sets a=1\n```\n", 5, "thor run has no option --sets"),
            "an option in a line": ("# A\n\nUse `thor run a.yaml --sets a=1`.\n", 3, "no option --sets"),
            "an option in a terminal": ("# A\n\n```console\n$ thor run -p\n```\n", 4, "no option -p"),
            **{f"history: {words}": (f"# A\n\nThis {words} here.\n", 3, "earlier versions") for words in (
                "is now", "no longer is", "used to be", "predates that", "was previously", "is new in the last version", "was formerly")},
        }.items():
            with self.subTest(what):
                found = self.faults(text)
                self.assertEqual([number for number, _ in found], [line], found)
                self.assertIn(clue, found[0][1])

    def test_exceptions(self):
        history = "# A\n\nThis is now new.\n"
        for what, (text, name) in {
            "code": (f"# A\n\n    {self.LONG}\n\n```\nnow {self.LONG}\nnow\n```\n", "docs/a.md"),
            "a table": (f"# A\n\n| a | b | c |\n|---|---|---|\n| {self.LONG[:50]} | {self.LONG[:50]} | {self.LONG[:50]} |\n", "docs/a.md"),
            "a formula": (f"# A\n\n$$ {self.LONG} $$\n\nof ${self.LONG}$ and\n", "docs/a.md"),
            "a link": (f"# A\n\n[{self.LONG}](a.md)\n", "docs/a.md"),
            "the generated reference": (f"# A\n\n{self.LONG}\n" * 200, "docs/configuration.md"),
            "a cell of a contributor's page": (f"| a |\n|---|\n| {self.LONG} |\n", "docs/contributing/a.md"),
            "a long note": (history + "\nText.\n" * 200, "docs/notes/a.md"),
            "the changelog": (history, "CHANGELOG.md"),
            "other senses": ("It is used to weigh. Now and then.\n", "docs/a.md"),
            "a command of Python": ("    python3 -m thor plot a.h5 -q\n    thor run a -o b | tail -n 3  # --so\n", "docs/a.md"),
        }.items():
            self.assertEqual(self.faults(text, name), [], what)

    def test_filling(self):
        kept = (f"# A\n\nTitle\n-----\n\n| a |\n|---|\n| {self.LONG} |\n\n```\na\nb\n```\n\n    c\n    d\n\n$$ a\n   b $$\n\n"
                "<p>\na\n</p>\n\n- one\n- two\n\n  ```\n  a\n  b\n  ```\n\n1. x\n2. y\n\n[a]: b.md\n[c]: d.md\n\n> a\n> b\n\nend  \nof it\n")
        self.assertEqual(check_pages.fill(kept), kept)
        text = "A text\nof lines\n- and an\n  item\n  1. of\n     two\n\n  and more\n  of it\n" + f"\n{self.LONG[:119]} - 3 `a b`\nand $x\n= 3$\n"
        filled = ("A text of lines\n- and an item\n  1. of two\n\n  and more of it\n" +
                  f"\n{self.LONG[:114]}\nword - 3 `a b` and $x = 3$\n")
        self.assertEqual(check_pages.fill(text), filled)

    @unittest.skipUnless(shutil.which("pandoc"), NO_PANDOC)
    def test_filling_changes_no_page(self):
        """Each page has the same HTML after it, and a second time changes nothing."""
        def converted(texts):
            done = subprocess.run(["pandoc", "--from=gfm+tex_math_dollars", "--to=html5", "--wrap=none"], capture_output=True, text=True,
                                  input="\n\n".join(f"{text}\n\nNEXT\n" for text in texts), check=True)
            return re.sub(r"\s+", " ", done.stdout).split("NEXT")

        pages = check_links.markdown_files(ROOT)
        texts = [path.read_text(encoding="utf-8") for path in pages]
        filled = [check_pages.fill(text) for text in texts]
        changed = [i for i, text in enumerate(texts) if filled[i] != text]  # the others have the same HTML
        before, after = (converted([of[i] for i in changed]) for of in (texts, filled))
        for i, was, is_ in zip(changed, before, after):
            self.assertEqual(is_, was, pages[i].name)
        for path, text, new in zip(pages, texts, filled):
            self.assertEqual("\n".join(line for block in check_pages.blocks(text) for line in block.lines), text, path.name)
            self.assertEqual(check_pages.fill(new), new, path.name)
            self.assertEqual([fault for _, fault in check_pages.check("docs/notes/a.md", new) if "--fill" in fault], [], path.name)


@unittest.skipUnless(shutil.which("pandoc"), NO_PANDOC)
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.site = Path(cls.folder.name) / "site"
        cls.run_of_it = call(ROOT / "docs/build_site.py", cls.site)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_is_built_soon(self):
        self.assertEqual(self.run_of_it.returncode, 0, self.run_of_it.stderr)
        pages = {path.name for path in self.site.glob("*.html")}
        expected = {"index.html", "changelog.html"} | {path.stem + ".html" for path in (ROOT / "docs").glob("*.md")}
        self.assertLessEqual(expected, pages)

    def test_every_page_is_in_the_navigation(self):
        self.assertEqual(build_site.unlisted(ROOT), [], "add them to GROUPS of docs/build_site.py")
        text = (self.site / "index.html").read_text(encoding="utf-8")
        menu = re.search(r'<nav class="side".*?</nav>', text, flags=re.S)[0]
        self.assertEqual(re.findall(r"<summary>(.*?)</summary>", menu), ["Start", "Use", "Physics", "Reference", "Contribute"])
        linked = re.findall(r'href="([^"]+)"', menu)
        self.assertEqual(sorted(linked), sorted(path.name for path in self.site.glob("*.html")))

    def test_an_unlisted_page_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("docs/tutorial.md", "docs/planted.md", "docs/contributing/planted.md", "docs/notes/a.md"):
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            self.assertEqual(build_site.unlisted(Path(folder)), ["docs/contributing/planted.md", "docs/planted.md"])

    def test_search_knows_every_section(self):
        text = (self.site / "search-index.js").read_text(encoding="utf-8")
        entries = json.loads(text.removeprefix("window.thorIndex = ").removesuffix(";\n"))
        for path in self.site.glob("*.html"):
            body = path.read_text(encoding="utf-8")
            anchors = {html.unescape(anchor) for anchor in re.findall(r'<h[234] id="([^"]+)"', body)}
            self.assertEqual({anchor for page, anchor, *_ in entries if page == path.name} - {""}, anchors, path.name)
        for page, anchor, name, title, words in entries:
            self.assertNotRegex(name + title, r"[<>]|&\w+;")
            self.assertNotIn("<span", words)

    def test_its_links_lead_somewhere(self):
        run = call(ROOT / "docs/check_links.py", self.site)
        broken = [line for line in run.stdout.splitlines()]
        self.assertEqual(broken, [], run.stderr)
        self.assertEqual(run.returncode, 0)

    def test_it_stands_alone(self):
        for path in self.site.glob("*.html"):
            text = path.read_text(encoding="utf-8")
            self.assertEqual(re.findall(r"<script.*?</script>", text), [SCRIPT], path.name)
            self.assertEqual(text.count("<script"), 1, path.name)
            self.assertNotRegex(text, r'<[^>]*\son\w+="|href="javascript:', path.name)
            self.assertIn('role="search" hidden>', text)  # shown by the script
            self.assertNotRegex(text, r'href="[^":#]*\.md[#"]', path.name)
            self.assertIn('name="viewport"', text)
            self.assertIn('aria-current="page"', text)
        self.assertNotRegex((self.site / "site.css").read_text(encoding="utf-8"), r"@import|url\(")
        self.assertNotRegex((self.site / "site.js").read_text(encoding="utf-8"), r"https?:|fetch\(|XMLHttpRequest|innerHTML")

    def test_formulas_are_mathml(self):
        text = (self.site / "physics.html").read_text(encoding="utf-8")
        self.assertGreater(text.count("<math"), 100)
        self.assertNotIn("$$", text)
        self.assertNotIn('<mstyle mathvariant="normal">', text)

    def test_a_broken_link_in_a_site_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder) / "site"
            shutil.copytree(self.site, site)
            for text, clue in (('<a href="none.html">x</a>', "none.html"), ('<a href="physics.html#none">x</a>', '"none"'),
                               ('<img src="figures/none.png">', "none.png"), ('<img src="https://a.b/c.png">', "network")):
                (site / "planted.html").write_text(f"<html><body>\n{text}\n</body></html>", encoding="utf-8")
                run = call(ROOT / "docs/check_links.py", site)
                self.assertEqual(run.returncode, 1, text)
                self.assertRegex(run.stdout, r"planted\.html:2: .*" + re.escape(clue))

    def test_it_replaces_nothing_of_others(self):
        with tempfile.TemporaryDirectory() as folder:
            mine = Path(folder) / "thesis.tex"
            mine.write_text("mine", encoding="utf-8")
            run = call(ROOT / "docs/build_site.py", folder)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertTrue(mine.exists())


@unittest.skipUnless(shutil.which("pandoc"), NO_PANDOC)
@unittest.skipUnless(find_browser(), NO_BROWSER)
class Looks(unittest.TestCase):
    """The site in a browser, from file://: built and opened once."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = Path(folder.name) / "site"
        done = call(ROOT / "docs/build_site.py", cls.site)
        assert done.returncode == 0, done.stderr
        cls.browser = cls.enterClassContext(Browser(Path(folder.name)))

    def open(self, name):
        self.browser.open((self.site / name).as_uri())
        self.assertTrue(self.browser.wait(f"document.readyState == 'complete' && location.pathname.endsWith('{name}')"))

    def test_pages_fit_on_a_screen(self):
        """No page and no code has to be scrolled sideways, not even on a phone."""
        for path in sorted(self.site.glob("*.html")):
            self.open(path.name)
            for width in (390, 1280):
                self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
                self.assertTrue(self.browser.wait(f"window.innerWidth == {width}"), path.name)
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width, path.name)
                wide = "[...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
                self.assertEqual(self.browser.evaluate(wide), [], path.name)

    def test_search_with_the_keyboard(self):
        self.open("index.html")
        self.browser.key("/")
        self.assertEqual(self.browser.evaluate("document.activeElement.type"), "search")
        self.browser.call("Input.insertText", text="voigt profile")
        self.assertTrue(self.browser.wait("document.querySelectorAll('.results a').length > 0"))
        self.browser.key("ArrowDown")
        self.assertEqual(self.browser.evaluate("document.activeElement.getAttribute('href')"), "physics.html#voigt-profile")
        self.browser.key("Escape")
        self.assertTrue(self.browser.evaluate("document.querySelector('.results').hidden"))
        self.browser.call("Input.insertText", text="xyzzy")
        self.assertTrue(self.browser.wait("document.querySelector('.results p').textContent == 'Nothing found'"))
        self.assertEqual(self.browser.complaints(), [])
        self.assertTrue(all(address.startswith("file:") for address in self.browser.requests()))

    def test_it_works_without_scripts(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.addCleanup(self.browser.call, "Emulation.setScriptExecutionDisabled", value=False)
        self.open("physics.html")
        seen = "e => e.checkVisibility()"
        self.assertFalse(self.browser.evaluate(f"({seen})(document.querySelector('.search'))"))
        self.assertTrue(self.browser.evaluate(f"[...document.querySelectorAll('.side a')].some({seen})"))


class Layers(unittest.TestCase):
    def test_the_table_is_that_of_the_check(self):
        """docs/architecture.md lists the layers that include_direction.py enforces, except those still to come."""
        tree = ast.parse((ROOT / "tests/e2e/include_direction.py").read_text(encoding="utf-8"))
        layers = next(ast.literal_eval(node.value) for node in tree.body
                      if isinstance(node, ast.Assign) and node.targets[0].id == "LAYERS")
        there = {path.name for path in (ROOT / "src/thor").iterdir() if path.is_dir()} | {"apps"}
        text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
        table = text[text.index("| layer | folders |"):].split("\n\n")[0].splitlines()[2:]
        rows = [re.findall(r"`(\w+)`", line) for line in table]
        expected = [[folder for folder in layer if folder in there] for layer in layers]
        self.assertEqual([sorted(row) for row in rows], [sorted(row) for row in expected if row])


class Statements(unittest.TestCase):
    """Statements about the code that can be compared with the code itself or with a page printed by it."""

    def text(self, name):
        return (ROOT / name).read_text(encoding="utf-8")

    def default(self, key):
        """Default of a key, from the table that the binary prints."""
        found = set(re.findall(rf"^\| `{key}` \|[^|]*\| `([^`|]*)` \|", self.text("docs/configuration.md"), re.MULTILINE))
        self.assertEqual(len(found), 1, f"{key}: {found}")
        return found.pop()

    def test_defaults(self):
        pages = self.text("docs/physics.md") + self.text("docs/paper.md")
        said = {
            "step_limiter": [r"\$f\$ is `step_limiter`,\s+([\d.]+) if\s+not\s+given", r"relaxed off resonance, \$f = ([\d.]+)\$"],
            "albedo": [r"Defaults are albedo ([\d.]+)"],
            "g": [r"Defaults are albedo [\d.]+ and \$g = ([\d.]+)\$"],
        }
        for key, patterns in said.items():
            for pattern in patterns:
                self.assertEqual(re.findall(pattern, pages), [self.default(key)], pattern)
        (f_ion,) = re.findall(r"f_\\mathrm\{ion\} = ([\d.]+)\$ is the\s+default", self.text("docs/lines.md"))
        self.assertEqual(f_ion, self.default("f_ion"))

    def test_random_generators(self):
        """Every generator that a run can choose is on the page about statistics."""
        options = self.text("docs/configuration.md").split("\n`generator`:\n\n")[1].split("\n\n")[0]
        section = self.text("docs/statistics.md").split("\n## Random numbers")[1].split("\n## ")[0]
        names = re.findall(r"^- `([a-z]+\d*)", options, re.MULTILINE)
        self.assertEqual(len(names), 3)
        for name in names:
            self.assertIn(name, section.lower())

    def test_code_is_where_pages_say(self):
        """`name` in [`file`](../src/...): the file has that name."""
        found = 0
        for page in (ROOT / "docs").glob("*.md"):
            text = page.read_text(encoding="utf-8")
            for names, link in re.findall(r"((?:`\w+`(?:,| and)?\s+)+)in\s+\[`[^`]+`\]\((\.\./src/[^)#]+)\)", text):
                source = (page.parent / link).read_text(encoding="utf-8")
                for name in re.findall(r"`(\w+)`", names):
                    self.assertRegex(source, rf"\b{name}\b", f"{page.name}: {name} is not in {link}")
                    found += 1
        self.assertGreater(found, 10)

    def test_exit_codes(self):
        """Python has a meaning for each of the command's exit codes."""
        table = self.text("docs/command-line.md").split("\n## Exit codes\n")[1]
        codes = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
        tree = ast.parse(self.text("python/thor/errors.py"))
        (meaning,) = [ast.literal_eval(node.value) for node in tree.body
                      if isinstance(node, ast.Assign) and node.targets[0].id == "_MEANING"]
        self.assertGreater(len(codes), 5)
        self.assertLessEqual(codes - {0}, set(meaning))

    def test_what_is_not_there_yet(self):
        """The README's list must be shortened when a feature arrives."""
        (missing,) = re.findall(r"\n## Not implemented yet\n(.*?)\n## ", self.text("README.md"), re.DOTALL)
        configuration = self.text("docs/configuration.md")

        def types(section):
            text = re.split(r"\n##+ ", configuration.split(f"\n## {section}\n")[1])[0]
            (row,) = re.findall(r"^\| `type` \| ([^|]*) \|", text, re.MULTILINE)
            return set(re.findall(r"`(\w+)`", row))

        folders = {path.name for path in (ROOT / "src/thor").iterdir() if path.is_dir()}
        backends = {path.name for path in (ROOT / "src/thor/parallel").iterdir() if path.is_dir()}
        commands = set(re.findall(r"^## (\w+)$", self.text("docs/command-line.md"), re.MULTILINE))
        self.assertGreater(len(commands), 5)
        there = {
            "observers": "image" in types("outputs"),
            "FITS": "export" in commands,
            "MPI": "comm" in folders,
            "continue": "continue" in commands,
            "ray tracing": "operators" in folders,
            "GPUs other than": not backends <= {"cpu", "device", "gpu", "cuda"},
            "a shell, a slab, a cube, a uniform grid, an octree or a Voronoi mesh": types("dataset") != {"shell", "slab", "cube", "uniform_grid", "octree", "voronoi"},
        }
        for words, exists in there.items():
            self.assertEqual(words in missing, not exists, words)


if __name__ == "__main__":
    if not shutil.which("pandoc"):
        print(NO_PANDOC, file=sys.stderr)
    unittest.main()
