#!/usr/bin/env python3
"""Checks how the pages of the documentation are written, or rewraps them.

    python3 docs/check_pages.py [--root FOLDER] [FILE ...]    all pages, or these
    python3 docs/check_pages.py --fill FILE ...               fills paragraphs and list items to 120 characters

Every page: lines of at most 120 characters, and paragraphs that fill them (a line is short if the next word would end within
100); no words about earlier versions, except in the changelog and in notes; commands of thor in code with options that
docs/command-line.md has. User pages also: at most 300 lines, table cells of at most 60 characters. Not checked: formulas, lines
with links, the width of tables, and the wrapping and length of the generated reference. Exit status 1 and one line FILE:LINE:
what is wrong, for each fault.
"""
from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import check_links

ROOT = Path(__file__).resolve().parents[1]
WIDTH, SHORT, CELL, LENGTH = 120, 100, 60, 300
GENERATED = ("docs/configuration.md", "docs/command-line.md")
CONTRIBUTOR = ("docs/notes/", "docs/contributing/", "docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/", "examples/")
HISTORY = re.compile(
    r"\bno longer\b|(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bwas )(?<!\bwere )\bused to\b(?! (?:a|an|the)\b)|\bpredate[sd]?\b|\bformerly\b|"
    r"\bpreviously\b|\b(?:in|since|as of|from|than) (?:the |this |an? )?(?:last|current|new|next|previous|earlier|older) versions?\b|"
    r"\bas of this version\b|\b(?:earlier|older|previous) versions? of thor\b|\buntil recently\b|\banymore\b|\bnewly added\b|"
    r"\bhas been (?:renamed|rewritten|removed)\b|\bbefore that version\b|\bnow\b(?! and then\b)", re.I)

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])( +)(?=\S)")
_ALONE = re.compile(r"\s*(#{1,6}(\s|$)|\||>|\[[^\]]+\]:\s|<(?!https?:)[a-zA-Z/!]|([-*_] *){3,}$)")
_RULE = re.compile(r"\s*([-*_] *){3,}$")
_UNDERLINE = re.compile(r"\s{0,3}(=+|-+)\s*$")
# A word keeps code, formulas and links' destinations in one piece.
_WORD = re.compile(r"(?:(`+)(?:(?!\1).)+?\1(?!`)|\$[^$\s](?:[^$]*[^$\s])?\$(?!\d)|\]\([^)]*\)|\S)+")
# A word that would mean something else at the beginning of a line.
_FIRST = re.compile(r"([-*+]|\d{1,9}[.)]|#{1,6}|=+|-+)$|[>|<]|`{3}|~{3}|\$\$|\[[^\]]+\]:$")


@dataclass
class Block:
    """Consecutive lines of one kind: text (a paragraph or an item of a list), table, or other."""
    kind: str
    line: int  # of the first, from 1
    lines: list[str]
    indent: int = 0  # of the lines after the first

    def words(self) -> list[list[str]]:
        """The words of each line: wrapping must not split or join what is between them."""
        return [[match[0] for match in _WORD.finditer(line)] for line in self.lines]


def blocks(text: str) -> list[Block]:
    """The lines of a page in blocks, blank lines included: joined they are the page."""
    found: list[Block] = []
    fence = closing = None
    items: list[int] = []  # columns of the text of the lists that are open
    blank = True

    def add(kind: str, number: int, line: str, new: bool = False, indent: int = 0) -> None:
        if new or not found or found[-1].kind != kind:
            found.append(Block(kind, number, [], indent))
        found[-1].lines.append(line)

    for number, line in enumerate(text.split("\n"), 1):
        column = len(line) - len(line.lstrip())
        current = found[-1] if found and found[-1].kind == "text" and not blank else None
        if fence or closing:
            add("other", number, line)
            if fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
            elif closing and closing in line:
                closing = None
            blank = False
            continue
        if not line.strip():
            add("other", number, line, new=True)
            blank = True
            continue
        if blank or current is None:
            items = [item for item in items if item <= column or _ITEM.match(line) and item <= column + 1]
        base = items[-1] if items else 0
        item = _ITEM.match(line)
        if opening := _FENCE.match(line):
            fence = opening[1]
            add("other", number, line, new=True)
        elif line.lstrip().startswith("$$") or line.lstrip().startswith("<!--"):
            closing = "$$" if line.lstrip().startswith("$$") else "-->"
            if closing in line.lstrip()[2:]:
                closing = None
            add("other", number, line, new=True)
        elif current is None and column >= base + 4:
            add("code", number, line)
        elif line.lstrip().startswith("|"):
            add("table", number, line)
        elif current and _UNDERLINE.match(line) and not item:
            current.kind = "other"  # a heading with a line below it
            current.lines.append(line)
        elif item and not _RULE.match(line) and (current is None or current.indent or item[2][:-1] in ("", "1")):
            items = [open_item for open_item in items if open_item <= column]
            items.append(item.end())
            add("text", number, line, new=True, indent=item.end())
        elif _ALONE.match(line):
            add("other", number, line, new=True)
        elif current is None or re.search(r"(  |\\|<br>)$", current.lines[-1]):
            add("text", number, line, new=True, indent=column if current is None else current.indent)
        else:
            add("text", number, line)
        blank = False
    return found


def filled(block: Block) -> list[str]:
    """The lines of a text, as long as they may be."""
    first = block.lines[0]
    prefix = _ITEM.match(first)
    begin = prefix[0] if prefix and len(prefix[0]) == block.indent else first[: len(first) - len(first.lstrip())]
    tail = re.search(r"(  +|)$", block.lines[-1])[1]  # a hard break
    text = " ".join([first[len(begin):].strip()] + [line.strip() for line in block.lines[1:]])
    words: list[str] = []
    for word in (match[0] for match in _WORD.finditer(text)):
        if words and _FIRST.match(word):
            words[-1] += " " + word
        else:
            words.append(word)
    lines, line = [], begin + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) <= WIDTH:
            line += " " + word
        else:
            lines.append(line)
            line = " " * block.indent + word
    return [*lines, line + tail]


def fill(text: str) -> str:
    return "\n".join(line for block in blocks(text) for line in (filled(block) if block.kind == "text" else block.lines))


def cells(row: str) -> list[str]:
    """The cells of a row of a table, without markup: links are their text."""
    row = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", row.strip().strip("|")).replace("`", "").replace("**", "")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]


def options_of(reference: str) -> dict[str, set[str]]:
    """The options of each command, from docs/command-line.md."""
    sections = re.findall(r"^## ([a-z]+)\n(.*?)(?=^## |\Z)", reference, flags=re.M | re.S)
    return {command: set(re.findall(r"(?<=[`\s])--?[\w-]+(?=[^|]*`[^|]*\|)", text)) for command, text in sections}


def commands(text: str) -> list[tuple[int, str, list[str]]]:
    """Line, command and options of each `thor COMMAND ...` in blocks of code and in code within a line."""
    found = []
    for block in blocks(text):
        code = block.kind == "code"
        first = block.lines[0].strip()
        language = re.match(r"(?:`{3,}|~{3,})\s*(\w*)", first)
        joined = ""
        for number, line in enumerate(block.lines, block.line):
            joined += line.removesuffix("\\")
            if line.endswith("\\"):
                continue
            parts = [joined] if code or language and language[1] in ("sh", "bash") else []
            if language and language[1] == "console" and joined.lstrip().startswith("$ "):
                parts = [joined]
            elif not code and not language:
                parts = re.findall(r"(?<!`)`(thor [^`]*)`", joined)
            for part in parts:
                for command, rest in re.findall(r"(?:^|[\s;&|(/])(?<!-m )thor ([a-z]+)\b([^|;&#)]*)", part):
                    found.append((number, command, re.findall(r"(?<!\S)--?[a-z][\w-]*", re.sub(r'"[^"]*"', "", rest))))
            joined = ""
    return found


def check(name: str, text: str, options: dict[str, set[str]] | None = None) -> list[tuple[int, str]]:
    """Line and fault, for each fault of a page."""
    user = not name.startswith(CONTRIBUTOR) and name not in GENERATED
    faults = []
    lines = text.split("\n")
    if user and len(lines) - 1 > LENGTH:
        faults.append((LENGTH + 1, f"the page has {len(lines) - 1} lines, more than {LENGTH}: split it, or move details to docs/notes"))
    for block in blocks(text) if name not in GENERATED else []:
        words = block.words() if block.kind == "text" else []
        for i, line in enumerate(block.lines):
            number = block.line + i
            if block.kind == "table" and user:
                for cell in cells(line):
                    if len(cell) > CELL and "$" not in cell:
                        faults.append((number, f"a table cell of {len(cell)} characters, more than {CELL}: make it a list: {cell[:30]}..."))
            if block.kind != "text":
                continue
            if len(line) > WIDTH and len(words[i]) > 1 and not re.search(r"\]\(|\]\[|https?:|\$", line):
                faults.append((number, f"{len(line)} characters, more than {WIDTH}: --fill"))
            if i + 1 < len(words) and words[i + 1] and len(line) + 1 + len(words[i + 1][0]) <= SHORT \
                    and not (len(words[i + 1]) > 1 and _FIRST.match(words[i + 1][1])):
                faults.append((number, f"a short line, {len(line)} characters, in mid-paragraph: --fill"))
    if not name.startswith(("CHANGELOG.md", "docs/notes/")):
        for number, line in enumerate(check_links.blank_code(text).split("\n"), 1):
            faults += [(number, f'"{match[0]}" tells of earlier versions: say what is') for match in HISTORY.finditer(line)]
    for number, command, given in commands(text) if options and user else []:
        if command not in options:
            faults.append((number, f"thor has no command {command}"))
        faults += [(number, f"thor {command} has no option {option}") for option in given if option not in options.get(command, {option})]
    return sorted(faults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="pages (default: all of the repository)")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--fill", action="store_true", help="rewrap these files in place")
    arguments = parser.parse_args()
    if arguments.fill and not arguments.files:
        parser.error("--fill needs files")
    root = arguments.root.resolve()
    pages = [path.resolve() for path in arguments.files] or check_links.markdown_files(root)
    reference = root / "docs/command-line.md"
    options = options_of(reference.read_text(encoding="utf-8")) if reference.is_file() else None
    count = 0
    for path in pages:
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        if arguments.fill:
            if name in GENERATED:
                parser.error(f"{name} is generated")
            if (new := fill(text)) != text:
                path.write_text(new, encoding="utf-8")
                print(f"check_pages: filled {name}", file=sys.stderr)
            continue
        for line, fault in check(name, text, options):
            print(f"{name}:{line}: {fault}")
            count += 1
    if not arguments.fill:
        print(f"check_pages: {len(pages)} pages, {count} faults", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
