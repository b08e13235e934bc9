#!/usr/bin/env python3
"""Builds a static site from the documentation: python3 docs/build_site.py OUTPUT_FOLDER [--repository URL]

One page from each of README.md, docs/*.md, python/README.md, CONTRIBUTING.md and CHANGELOG.md that exists, with
Debian's pandoc (one process per page, mathematics as MathML). The pages need no script and no network. Links between the
Markdown files become links between pages; figures are copied; a link to any other file of the repository becomes its path as
text, or with --repository URL a link to URL/path (for example https://HOST/OWNER/thor/blob/main).
"""
from __future__ import annotations

import argparse
import concurrent.futures
import html
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
MARK = "thor-documentation"  # marks a folder as ours to replace

# Source, page, name in the navigation; missing ones are skipped, other docs/*.md come before the architecture.
PAGES = (
    ("README.md", "index.html", "thor"),
    ("docs/tutorial.md", "tutorial.html", "Tutorial"),
    ("docs/configuration.md", "configuration.html", "Configuration"),
    ("docs/command-line.md", "command-line.html", "Command line"),
    ("docs/lines.md", "lines.html", "Lines"),
    ("docs/physics.md", "physics.html", "Physics"),
    ("docs/validation.md", "validation.html", "Validation"),
    ("docs/performance.md", "performance.html", "Performance"),
    ("docs/snapshots.md", "snapshots.html", "Snapshots"),
    ("docs/gridding.md", "gridding.html", "Gridding"),
    ("docs/emission.md", "emission.html", "Emission"),
    ("docs/raytracing.md", "raytracing.html", "Rays"),
    ("docs/mock.md", "mock.html", "Mock snapshots"),
    ("docs/view.md", "view.html", "View"),
    ("docs/formats.md", "formats.html", "Files"),
    ("python/README.md", "python.html", "Python"),
    ("docs/architecture.md", "architecture.html", "Architecture"),
    ("CONTRIBUTING.md", "contributing.html", "Contributing"),
    ("docs/contributing/line.md", "contributing-line.html", "Add a line"),
    ("docs/contributing/dataset.md", "contributing-dataset.html", "Add a dataset"),
    ("docs/contributing/output.md", "contributing-output.html", "Add an output"),
    ("CHANGELOG.md", "changelog.html", "Changelog"),
)

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{mark}">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="site.css">
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<details class="menu">
<summary><span class="brand">thor</span> <span class="here">{here}</span></summary>
{menu}
</details>
</header>
<div class="page">
<nav class="side" aria-label="Pages">
{side}
</nav>
<main id="content">
{body}
<nav class="turn" aria-label="Next page">
{turn}
</nav>
</main>
</div>
</body>
</html>
"""


@dataclass
class Page:
    source: str  # in the repository
    target: str  # in the site
    name: str
    body: str = ""

    def headings(self) -> list[tuple[str, str]]:
        """Id and text of the sections."""
        return re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', self.body, flags=re.S)


def choose_pages(root: Path) -> list[Page]:
    pages = [Page(*entry) for entry in PAGES if (root / entry[0]).is_file()]
    known = {entry[0] for entry in PAGES}
    place = next((i for i, page in enumerate(pages) if page.target in ("architecture.html", "contributing.html", "changelog.html")),
                 len(pages))
    for path in sorted((root / "docs").glob("*.md"), reverse=True):
        source = path.relative_to(root).as_posix()
        if source not in known:
            pages.insert(place, Page(source, path.stem + ".html", path.stem.replace("-", " ").replace("_", " ").capitalize()))
    return pages


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
        # Wide elements scroll separately, also with the keyboard.
        body = body.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
        body = body.replace("<pre>", '<pre tabindex="0">')
        body = re.sub(r'(<math display="block".*?</math>)', r'<span class="wide formula" tabindex="0">\1</span>', body, flags=re.S)
        body = re.sub(r'<mstyle mathvariant="normal">(.*?)</mstyle>', upright, body, flags=re.S)
        body = re.sub(r"<thead>\s*<tr[^>]*>(\s*<th[^>]*></th>)+\s*</tr>\s*</thead>", "", body)  # a table without titles
        body = re.sub(r'<h([234]) id="([^"]+)">(.*?)</h\1>',
                      r'<h\1 id="\2">\3 <a class="mark" href="#\2" aria-label="Link to this section">#</a></h\1>', body, flags=re.S)
        page.body = body

    def menu(self, here: Page, sections: bool) -> str:
        lines = ["<ul>"]
        for page in self.pages:
            current = ' aria-current="page"' if page is here else ""
            lines.append(f'<li><a href="{page.target}"{current}>{html.escape(page.name)}</a>')
            if sections and page is here and len(page.headings()) > 1:
                lines.append("<ul>")
                for anchor, text in page.headings():
                    plain = re.sub(r' <a class="mark".*?</a>', "", text, flags=re.S)
                    plain = re.sub(r"</?(a|span)\b[^>]*>", "", plain)
                    lines.append(f'<li><a href="#{anchor}">{plain}</a></li>')
                lines.append("</ul>")
            lines.append("</li>")
        lines.append("</ul>")
        return "\n".join(lines)

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
        for index, page in enumerate(self.pages):
            heading = re.search(r"<h1[^>]*>(.*?)</h1>", page.body, flags=re.S)
            title = html.unescape(re.sub(r"<[^>]+>", "", heading[1])).strip() if heading else page.name
            title = title if title == "thor" else f"{title} · thor"
            text = TEMPLATE.format(mark=MARK, title=html.escape(title), here=html.escape(page.name if index else ""),
                                   menu=self.menu(page, False), side=self.menu(page, True), body=page.body,
                                   turn=self.turn(index))
            (self.output / page.target).write_text(text, encoding="utf-8")
        shutil.copyfile(self.root / "docs/site.css", self.output / "site.css")
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
    print(f"build_site: {len(site.pages)} pages and {len(site.files)} figures in {output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
