#!/usr/bin/env python3
"""Builds a static site from the documentation: python3 docs/build_site.py OUTPUT_FOLDER [--repository URL]

One page from each Markdown file in GROUPS, with Debian's pandoc (one process per page, mathematics as MathML). The pages need no
network and no server; search (docs/site/site.js) needs JavaScript, nothing else does. Links between the Markdown files become links
between pages; figures are copied; a link to any other file of the repository becomes its path as text, or with --repository
URL a link to URL/path (for example https://HOST/OWNER/thor/blob/main).
"""
from __future__ import annotations

import argparse
import concurrent.futures
import html
import itertools
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

ROOT = Path(__file__).resolve().parents[1]
SITE = Path(__file__).with_name("site")  # template.html, site.css, site.js
MARK = "thor-documentation"  # marks a folder as ours to replace

# The navigation: source and name. Missing files are skipped; a page of docs/ that is not here is not built (unlisted()).
GROUPS = {
    "Start": (
        ("README.md", "Overview"),
        ("docs/tutorial.md", "Tutorial"),
    ),
    "Use": (
        ("docs/snapshots.md", "Snapshots"),
        ("docs/gridding.md", "Gridding"),
        ("docs/octrees.md", "Octrees"),
        ("docs/voronoi.md", "Voronoi meshes"),
        ("docs/emission.md", "Emission"),
        ("docs/mock.md", "Mock snapshots"),
        ("docs/observers.md", "Observers"),
        ("docs/raytracing.md", "Rays"),
        ("docs/view.md", "View"),
        ("docs/sweeps.md", "Sweeps"),
        ("docs/fits.md", "Fits"),
        ("docs/long-runs.md", "Long runs"),
        ("docs/ranks.md", "Clusters"),
        ("docs/gpus.md", "GPUs"),
        ("docs/performance.md", "Performance"),
        ("python/README.md", "Python"),
    ),
    "Physics": (
        ("docs/physics.md", "Line transfer"),
        ("docs/gas.md", "Gas and sources"),
        ("docs/acceleration.md", "Acceleration"),
        ("docs/statistics.md", "Statistics"),
        ("docs/lines.md", "Lines"),
        ("docs/validation.md", "Validation"),
        ("docs/paper.md", "The paper"),
    ),
    "Reference": (
        ("docs/configuration.md", "Configuration"),
        ("docs/command-line.md", "Command line"),
        ("docs/formats.md", "Files"),
        ("docs/glossary.md", "Glossary"),
    ),
    "Contribute": (
        ("CONTRIBUTING.md", "Contributing"),
        ("docs/architecture.md", "Architecture"),
        ("docs/contributing/line.md", "Add a line"),
        ("docs/contributing/dataset.md", "Add a dataset"),
        ("docs/contributing/mesh.md", "Add a mesh"),
        ("docs/contributing/generator.md", "Add a generator"),
        ("docs/contributing/key.md", "Add a configuration key"),
        ("docs/contributing/output.md", "Add an output"),
        ("docs/contributing/operator.md", "Add an operator"),
        ("docs/contributing/backend.md", "Add a backend"),
        ("docs/contributing/mutations.md", "Mutations"),
        ("docs/contributing/critical-functions.md", "Critical functions"),
        ("docs/contributing/kernel-performance.md", "Kernel performance"),
        ("CHANGELOG.md", "Changelog"),
    ),
}
TARGETS = {"README.md": "index.html", "python/README.md": "python.html"}  # others: docs/contributing/line.md is contributing-line.html


@dataclass
class Page:
    source: str  # in the repository
    target: str  # in the site
    name: str
    group: str
    title: str = ""
    body: str = ""

    def headings(self) -> list[tuple[str, str]]:
        """Id and text of the sections."""
        return [(anchor, plain(text)) for anchor, text in re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', self.body, flags=re.S)]


def choose_pages(root: Path) -> list[Page]:
    pages = []
    for group, entries in GROUPS.items():
        for source, name in entries:
            if (root / source).is_file():
                target = source.removeprefix("docs/").removesuffix(".md").replace("/", "-").lower() + ".html"
                pages.append(Page(source, TARGETS.get(source, target), name, group))
    return pages


def unlisted(root: Path) -> list[str]:
    """Pages that no group has; notes are not part of the manual."""
    known = {source for entries in GROUPS.values() for source, _ in entries}
    found = {path.relative_to(root).as_posix() for folder in ("docs", "docs/contributing") for path in (root / folder).glob("*.md")}
    return sorted(found - known)


def plain(text: str) -> str:
    """HTML without tags, as HTML."""
    text = re.sub(r'<a class="mark".*?</a>|<annotation.*?</annotation>', "", text, flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def pandoc(path: Path) -> str:
    command = ["pandoc", "--from=gfm+tex_math_dollars", "--to=html5", "--mathml", "--no-highlight", "--wrap=none",
               "--fail-if-warnings", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"build_site: pandoc failed on {path}:\n{run.stderr}")
    return run.stdout


def upright(match: re.Match) -> str:
    """Browsers ignore mathvariant in <mstyle>: each run of upright letters becomes one <mi>."""
    letters = re.sub(r"(?:<mi>[^<]</mi>)+", lambda m: f'<mi mathvariant="normal">{re.sub("<.*?>", "", m[0])}</mi>', match[1])
    return f"<mrow>{letters}</mrow>"


def option(match: re.Match) -> str:
    """Code in which no option breaks at a hyphen."""
    return re.sub(r"(?<!\S)--?\w[\w.-]*", r'<span class="word">\g<0></span>', match[0])


def code(match: re.Match) -> str:
    """A block of code whose lines wrap with an indent, and whose comments at the end of lines stand apart (site.css)."""
    lines = []
    for line in match[2].split("\n"):
        indent = len(line) - len(line.lstrip())
        style = f' style="--indent: {indent}"' if indent else ""
        line = re.sub(r"^(.*?\S)( {2,})(#.*)$", r'\1<span class="gap">\2</span><span class="note">\3</span>', line)
        lines.append(f'<span class="line"{style}>{line}\n</span>')
    return f"<pre{match[1]}><code>{''.join(lines)}</code></pre>"


def table(match: re.Match) -> str:
    """A table in a box that scrolls. With three columns or more and much text it is a list on a phone (stack); a table of keys is
    a list everywhere (entries)."""
    text = re.sub(r"<thead>\s*<tr[^>]*>(\s*<th[^>]*></th>)+\s*</tr>\s*</thead>", "", match[0])  # without titles
    text = re.sub(r"<code>(?=[^<]*[^<\s]{20})", '<code class="long">', text)  # may break anywhere
    titles = [plain(title) for title in re.findall(r"<th\b[^>]*>(.*?)</th>", text, flags=re.S)]
    rows = [re.findall(r"<td\b[^>]*>(.*?)</td>", row, flags=re.S) for row in re.findall(r"<tr\b.*?</tr>", text, flags=re.S)]

    widest = max((len(html.unescape(plain("".join(row)))) for row in rows), default=0)
    kind = " entries" if titles[:1] == ["key"] and len(titles) > 3 else " stack" if len(titles) > 2 and widest > 50 else ""
    if kind:
        labels = itertools.cycle(titles)
        text = re.sub(r"<td\b", lambda _: f'<td data-title="{next(labels)}"', text)
    return f'<div class="wide{kind}" tabindex="0">{text}</div>'


def home(body: str) -> str:
    """The first page: the first picture is large, and sections of one section are cards."""
    body = re.sub(r"<p>(<a [^>]*><img\b[^>]*></a>)</p>", r'<p class="hero">\1</p>', body, count=1)
    parts = re.split(r"(?=<h2\b)", body)
    for i, part in enumerate(parts):
        head, *cards = re.split(r"(?=<h3\b)", part)
        if len(cards) > 1:
            parts[i] = head + '<div class="cards">' + "".join(f'<section class="card">{card}</section>' for card in cards) + "</div>"
    return "".join(parts)


class Site:
    def __init__(self, root: Path, output: Path, repository: str | None):
        self.root, self.output, self.repository = root, output, repository
        self.pages = choose_pages(root)
        self.target_of = {page.source: page.target for page in self.pages}
        self.files: dict[str, str] = {}  # copied: in the repository -> in the site

    def resolve(self, page: Page, link: str) -> tuple[str, str]:
        """Path in the repository that a relative link refers to, and its anchor."""
        name, _, anchor = link.partition("#")
        return posixpath.normpath(posixpath.join(posixpath.dirname(page.source), unquote(name))), anchor

    def copied(self, source: str) -> str:
        """Path in the site of a copied file: docs/figures/a.png is figures/a.png."""
        return self.files.setdefault(source, source.removeprefix("docs/"))

    def anchor(self, page: Page, match: re.Match) -> str:
        before, link, after, text = match[1], html.unescape(match[2]), match[3], match[4]
        if re.match(r"[a-z][a-z0-9+.-]*:|//|#", link, re.I):
            return match[0]
        source, section = self.resolve(page, link)
        if source in self.target_of:
            href = self.target_of[source] + (f"#{section}" if section else "")
        elif source.lower().endswith((".png", ".svg", ".jpg", ".pdf")):
            href = self.copied(source)
        elif self.repository:
            href = f"{self.repository.rstrip('/')}/{quote(source)}" + (f"#{section}" if section else "")
        else:
            return f'<span class="source" title="{html.escape(source)} in the repository">{text}</span>'
        return f'<a{before} href="{html.escape(href)}"{after}>{text}</a>'

    def image(self, page: Page, match: re.Match) -> str:
        link = html.unescape(match[2])
        if re.match(r"[a-z][a-z0-9+.-]*:|//", link, re.I):
            raise SystemExit(f"build_site: {page.source}: image {link} is on the network; put it in docs/figures")
        source, _ = self.resolve(page, link)
        return f'<img{match[1]} src="{html.escape(quote(self.copied(source)))}"{match[3]} loading="lazy">'

    def convert(self, page: Page) -> None:
        body = pandoc(self.root / page.source)
        body = re.sub(r'<a((?:\s+(?!href)[\w-]+="[^"]*")*)\s+href="([^"]*)"([^>]*)>(.*?)</a>', lambda m: self.anchor(page, m), body,
                      flags=re.S)
        body = re.sub(r'<img((?:\s+(?!src)[\w-]+="[^"]*")*)\s+src="([^"]*)"((?:\s+[\w-]+="[^"]*")*)\s*/?>',
                      lambda m: self.image(page, m), body)
        body = re.sub(r"<p>(<img\b[^>]* src=\"([^\"]*)\"[^>]*>)</p>", r'<p><a href="\2">\1</a></p>', body)  # larger by itself
        body = re.sub(r"(?<=<code>)[^<]*", option, body)
        body = re.sub(r"<table\b.*?</table>", table, body, flags=re.S)
        body = re.sub(r"<pre([^>]*)><code>(.*?)\n?</code></pre>", code, body, flags=re.S)
        # Wide formulas scroll separately, also with the keyboard.
        body = re.sub(r'(<math display="block".*?</math>)', r'<span class="wide formula" tabindex="0">\1</span>', body, flags=re.S)
        body = re.sub(r'(<math display="inline"(?:(?!</math>).)*<annotation[^>]*>[^<]{40,}</annotation></semantics></math>)',
                      r'<span class="wide inline" tabindex="0">\1</span>', body, flags=re.S)
        body = re.sub(r'<mstyle mathvariant="normal">(.*?)</mstyle>', upright, body, flags=re.S)
        body = re.sub(r'<h([234]) id="([^"]+)">(.*?)</h\1>',
                      r'<h\1 id="\2">\3 <a class="mark" href="#\2" aria-label="Link to this section">#</a></h\1>', body, flags=re.S)
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, flags=re.S)
        page.title = html.unescape(plain(heading[1])) if heading else page.name
        page.body = home(body) if page.target == "index.html" else body

    def menu(self, here: Page) -> str:
        lines = []
        for group, pages in itertools.groupby(self.pages, lambda page: page.group):
            is_open = " open" if group != "Contribute" or here.group == group else ""
            lines.append(f"<details{is_open}><summary>{group}</summary>\n<ul>")
            for page in pages:
                current = ' aria-current="page"' if page is here else ""
                lines.append(f'<li><a href="{page.target}"{current}>{html.escape(page.name)}</a></li>')
            lines.append("</ul></details>")
        return "\n".join(lines)

    def contents(self, page: Page) -> str:
        headings = page.headings()
        if len(headings) < 2 or page.target == "index.html":
            return ""
        lines = [f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in headings]
        return "\n".join(['<aside class="contents"><nav aria-label="On this page">', "<p>On this page</p>", "<ul>", *lines, "</ul></nav></aside>"])

    def index(self) -> str:
        """The sections of all pages, for site.js: page, anchor, titles of page and section, text."""
        entries = []
        for page in self.pages:
            anchor, title = "", ""
            for part in re.split(r"(?=<h[234] id=)", page.body):
                if heading := re.match(r'<h[234] id="([^"]+)">(.*?)</h\d>', part, flags=re.S):
                    anchor, title = heading[1], html.unescape(plain(heading[2]))
                    part = part[heading.end():]
                part = re.sub(r"<h1.*?</h1>", "", part, flags=re.S)
                part = re.sub(r"</?(?:p|li|td|th|tr|h\d|pre|div|span|code)\b[^>]*>", lambda m: m[0] if "code" in m[0] else " " + m[0], part)
                entries.append([page.target, anchor, page.name, title, html.unescape(plain(part))])
        return "window.thorIndex = " + json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("],[", "],\n[") + ";\n"

    def turn(self, index: int) -> str:
        parts = []
        for step, word, arrow in ((-1, "prev", "&larr; {}"), (1, "next", "{} &rarr;")):
            if 0 <= index + step < len(self.pages):
                page = self.pages[index + step]
                parts.append(f'<a rel="{word}" href="{page.target}">{arrow.format(html.escape(page.name))}</a>')
        return "\n".join(parts)

    def build(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.convert, self.pages))
        template = (SITE / "template.html").read_text(encoding="utf-8")
        for index, page in enumerate(self.pages):
            title = page.title if page.title == "thor" else f"{page.title} · thor"
            text = template.format(mark=MARK, title=html.escape(title), kind="home" if page.target == "index.html" else "text",
                                   menu=self.menu(page), body=page.body, turn=self.turn(index), contents=self.contents(page))
            (self.output / page.target).write_text(text, encoding="utf-8")
        (self.output / "search-index.js").write_text(self.index(), encoding="utf-8")
        for name in ("site.css", "site.js"):
            shutil.copyfile(SITE / name, self.output / name)
        for source, target in self.files.items():
            if not (self.root / source).is_file():
                raise SystemExit(f"build_site: there is no {source}; docs/check_links.py says where it is needed")
            (self.output / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / source, self.output / target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="folder to write; one with other contents is refused")
    parser.add_argument("--repository", help="where links to source files lead: URL/path")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to read")
    arguments = parser.parse_args()
    if not shutil.which("pandoc"):
        print("build_site: pandoc is not installed (Debian: apt-get install pandoc)", file=sys.stderr)
        return 2
    output: Path = arguments.output
    if output.exists() and any(output.iterdir()):
        index = output / "index.html"
        if not (index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")):
            print(f"build_site: {output} has other contents; give an empty folder or an earlier site", file=sys.stderr)
            return 2
        shutil.rmtree(output)
    output.mkdir(parents=True, exist_ok=True)
    site = Site(arguments.root.resolve(), output, arguments.repository)
    site.build()
    for source in unlisted(site.root):
        print(f"build_site: {source} is in no group of the navigation: not built", file=sys.stderr)
    print(f"build_site: {len(site.pages)} pages and {len(site.files)} figures in {output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
