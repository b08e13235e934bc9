#!/usr/bin/env python3
"""Checks the links of the documentation, without a network.

    python3 docs/check_links.py [--root FOLDER]     the Markdown files of the repository
    python3 docs/check_links.py SITE [SITE ...]     the pages of a built site (docs/build_site.py)

In Markdown: every relative link and image leads to a file or folder of the repository that git does not ignore, every anchor to
a heading (by GitHub's rules) or an id, every reference [text][name] to a definition. In a site: every link and image leads to a
file of the site, every anchor to an id, and nothing is loaded from elsewhere. Code is ignored. Exit status 1 and one
line FILE:LINE: what is wrong, for each broken link. """
from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

FOLDERS = ("docs", "python", "examples")  # searched for files that git does not track yet
NOT_OURS = {".git", "build", "out", "__pycache__", "node_modules"}


@dataclass
class Link:
    line: int
    target: str
    image: bool = False


@dataclass
class Page:
    links: list[Link]
    anchors: set[str]
    problems: list[tuple[int, str]]


# ---- Markdown -------------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]^][^\]]*)\]:[ \t]*<?([^\s>]+)>?")
_LABEL = r"(?:[^\[\]]|\[[^\[\]]*\])*"  # one level of brackets inside
_INLINE = re.compile(rf"(!?)\[({_LABEL})\]\(\s*(?:<([^>]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_REFERENCE = re.compile(r"(!?)\[((?:[^\[\]])+)\]\[([^\[\]]*)\]")
_HTML_TARGET = re.compile(r"<(a|img|source)\b[^>]*?\b(?:href|src|srcset)\s*=\s*[\"']([^\"']+)[\"']", re.I)
_HTML_ID = re.compile(r"<[a-z][^>]*?\b(?:id|name)\s*=\s*[\"']([^\"']+)[\"']", re.I)


def blank_code(text: str) -> str:
    """The text with code, comments and display mathematics replaced by spaces; line numbers stay the same."""
    lines = text.split("\n")
    fence, previous_blank, in_list = None, True, False
    for i, line in enumerate(lines):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1][0] == fence[0] and len(opening[1]) >= len(fence) and line.strip() == opening[1]:
                fence = None
            lines[i] = ""
        elif opening:
            fence, lines[i] = opening[1], ""
        elif line.startswith(("    ", "\t")) and previous_blank and not in_list:
            lines[i] = ""
            continue  # the next indented line is code too
        if line.strip():
            in_list = bool(re.match(r"^ {0,3}([-*+]|\d+[.)])\s", line)) or (in_list and line.startswith(" "))
        previous_blank = not line.strip()
    text = "\n".join(lines)

    def spaces(match: re.Match) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    text = re.sub(r"<!--.*?-->", spaces, text, flags=re.S)
    text = re.sub(r"(?<!`)(`+)(?!`)([^\n]*?(?:\n[^\n]+?)*?)(?<!`)\1(?!`)", spaces, text)
    return re.sub(r"\$\$.*?\$\$", spaces, text, flags=re.S)


def slug(heading: str) -> str:
    """GitHub's anchor of a heading: lower case, spaces to hyphens, no punctuation."""
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", heading)  # links: their text
    text = re.sub(r"<[^>]+>", "", text)
    parts = re.split(r"(`[^`]*`)", text)  # emphasis does not reach into code
    parts = [p if p.startswith("`") else re.sub(r"(\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w))", "", p) for p in parts]
    text = "".join(parts).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def read_markdown(text: str) -> Page:
    page = Page([], set(), [])
    original, lines = text.split("\n"), blank_code(text).split("\n")
    body, definitions, counts = [], {}, {}
    for i, line in enumerate(lines):
        heading = None
        if match := _ATX.match(line):
            heading = _ATX.match(original[i])[2] or ""
        elif i and _SETEXT.match(line) and lines[i - 1].strip() and not lines[i - 1].lstrip().startswith(("|", "-", "#", ">")):
            heading = original[i - 1]
        if heading is not None:
            name = slug(heading)
            page.anchors.add(name if name not in counts else f"{name}-{counts[name]}")
            counts[name] = counts.get(name, 0) + 1
        if match := _DEFINITION.match(line):
            definitions[match[1].lower()] = match[2]
            page.links.append(Link(i + 1, match[2]))
            line = ""
        page.anchors.update(_HTML_ID.findall(line))
        body.append(line)
    text = "\n".join(body)

    def line_of(match: re.Match) -> int:
        return text.count("\n", 0, match.start()) + 1

    def find(part: str, offset: int) -> None:
        for match in _INLINE.finditer(part):
            line = text.count("\n", 0, offset + match.start()) + 1
            page.links.append(Link(line, match[3] if match[3] is not None else match[4], bool(match[1])))
            find(match[2], offset + match.start(2))  # an image inside a link

    find(text, 0)
    for match in _REFERENCE.finditer(text):
        name = (match[3] or match[2]).lower()
        if name not in definitions:
            page.problems.append((line_of(match), f"[{match[2]}][{match[3]}] has no definition"))
    for match in _HTML_TARGET.finditer(text):
        page.links.append(Link(line_of(match), match[2], match[1].lower() != "a"))
    return page


# ---- a site ---------------------------------------------------------------------------------------------------------


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page([], set(), [])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        line, values = self.getpos()[0], dict(attributes)
        for key in ("id", "name"):
            if values.get(key) and (key == "id" or tag == "a"):
                self.page.anchors.add(values[key])
        for key in ("href", "src"):
            target = values.get(key)
            if target is None:
                continue
            loads = key == "src" or tag == "link"
            if loads and is_external(target) and not target.startswith("data:"):
                self.page.problems.append((line, f"<{tag}> loads {target} from the network"))
            self.page.links.append(Link(line, target, tag == "img"))


def read_html(text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    return reader.page


# ---- both -----------------------------------------------------------------------------------------------------------


def is_external(target: str) -> bool:
    return bool(re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.I))


def git(root: Path, *arguments: str, text: str = "") -> str | None:
    """Output of git, or None if this is not the root of a repository."""
    try:
        run = subprocess.run(["git", "-C", str(root), *arguments], input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return run.stdout if run.returncode in (0, 1) else None


def markdown_files(root: Path) -> list[Path]:
    """All files that git tracks, and those in our folders; without git, all files."""
    tracked = git(root, "ls-files", "-z", "*.md") if (root / ".git").exists() else None
    if tracked is None:
        places = [root]
        found: set[Path] = set()
    else:
        places = [root / name for name in FOLDERS]
        found = {root / name for name in tracked.split("\0") if name and (root / name).exists()}
    for place in places:
        for path in place.rglob("*.md"):
            if not NOT_OURS & set(path.relative_to(root).parts[:-1]):
                found.add(path)
    return sorted(found)


def check(root: Path, files: list[Path], read, *, site: bool) -> list[str]:
    """One line for each broken link of these files."""
    root = root.resolve()
    pages = {path.resolve(): read(path.read_text(encoding="utf-8")) for path in files}
    complaints: list[tuple[Path, int, str]] = []
    reached: dict[Path, tuple[Path, int, str]] = {}
    for path, page in pages.items():
        complaints += [(path, line, text) for line, text in page.problems]
        for link in page.links:
            if is_external(link.target) or not link.target:
                if not link.target:
                    complaints.append((path, link.line, "an empty link"))
                continue
            name, _, anchor = link.target.partition("#")
            name, anchor = unquote(name.partition("?")[0]), unquote(anchor)
            what = "image" if link.image else "link"
            if name.startswith("/"):
                complaints.append((path, link.line, f"{what} {link.target} is absolute; make it relative"))
                continue
            target = (path.parent / name).resolve() if name else path
            if not target.is_relative_to(root):
                complaints.append((path, link.line, f"{what} {link.target} leads out of {'the site' if site else 'the repository'}"))
            elif not target.exists():
                complaints.append((path, link.line, f"{what} {link.target}: there is no {target.relative_to(root)}"))
            elif link.image and not target.is_file():
                complaints.append((path, link.line, f"{what} {link.target} is not a file"))
            else:
                reached.setdefault(target, (path, link.line, f"{what} {link.target}"))
                if anchor and target.suffix in (".md", ".html"):
                    if target not in pages:
                        pages_there = read(target.read_text(encoding="utf-8"))
                    else:
                        pages_there = pages[target]
                    if anchor not in pages_there.anchors:
                        complaints.append((path, link.line, f"{what} {link.target}: no heading or id \"{anchor}\""))
    if not site and (root / ".git").exists():
        inside = [str(target.relative_to(root)) for target in reached if target != root]
        for name in (git(root, "check-ignore", "--stdin", text="\n".join(inside)) or "").splitlines():
            path, line, text = reached[root / name]
            complaints.append((path, line, f"{text}: git ignores {name}"))
    return [f"{path.relative_to(root)}:{line}: {text}" for path, line, text in sorted(complaints)]


def check_repository(root: Path) -> tuple[int, list[str]]:
    files = markdown_files(root)
    return len(files), check(root, files, read_markdown, site=False)


def check_site(root: Path) -> tuple[int, list[str]]:
    files = sorted(root.rglob("*.html"))
    if not files:
        return 0, [f"{root}: no .html files"]
    return len(files), check(root, files, read_html, site=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="*", type=Path, help="folders of built sites")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="the repository")
    arguments = parser.parse_args()
    count, complaints = 0, []
    for n, lines in [check_site(site) for site in arguments.site] or [check_repository(arguments.root)]:
        count += n
        complaints += lines
    for line in complaints:
        print(line)
    print(f"check_links: {count} files, {len(complaints)} broken links", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
