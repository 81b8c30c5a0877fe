"""Hooks of mkdocs for the site of docs/: files outside docs/ that a page links to, and Markdown as GitHub reads it.

A linked file outside docs/ becomes a page below repository/: Markdown as it is, other text as a block of code, a folder
as a list of its files. So the site is complete without the address of a repository.
"""

import os
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS, OUTSIDE = "docs/", "repository/"
PICTURES = {".png", ".svg"}
LANGUAGES = {".proto": "protobuf", ".rs": "rust", ".ts": "typescript", ".mod": "go", ".mjs": "javascript"}
"Names for the highlighter where they are not the suffix."

FENCE = re.compile(r"^(\s*)(```+)(\w*) ?(\S*)$")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"(`[^`]*`)")
ITEM = re.compile(r"^([-*]|\d+\.) ")

SCRIPTS = ROOT / ".tools" / "docs"
MERMAID, SEARCH_OF_FILES = "assets/mermaid.min.js", "assets/iframe-worker.js"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of decisions to the navigation, and the script that a search without a server needs."""
    config.extra["polyfills"] = [SEARCH_OF_FILES]
    assert config.nav is not None
    decisions = config.nav[-1]["Decisions"]
    folder = ROOT / DOCS / "decisions"
    decisions += sorted(f"decisions/{path.name}" for path in folder.glob("*.md") if path.name != "README.md")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what pages link to outside docs/, and what those link to, and so on."""
    todo = [f"{DOCS}{file.src_uri}" for file in files.documentation_pages()] + ["README.md"]
    known = set(todo)
    while todo:
        place = todo.pop()
        if _source(place).startswith(OUTSIDE):
            files.append(_outside_file(place, config))
        for target in _targets(place):
            if target not in known and _source(target).startswith(OUTSIDE):
                known.add(target)
                todo.append(target)
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Write links and layout as the site needs them."""
    place = _place(page.file.src_uri)
    return "\n".join(_lines(markdown, place)) + "\n"


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    """Load the script of diagrams where there are diagrams; the theme would load it from another host."""
    if 'class="mermaid"' not in output:
        return output
    script = posixpath.relpath(MERMAID, posixpath.dirname(page.url) or ".")
    return output.replace("</head>", f'<script src="{script}"></script></head>', 1)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Copy the scripts that the theme would load from another host."""
    for script in (MERMAID, SEARCH_OF_FILES):
        shutil.copyfile(SCRIPTS / Path(script).name, Path(config.site_dir) / script)


def _lines(markdown: str, place: str) -> Iterator[str]:
    before = ""
    for is_code, line in _classified(markdown):
        fence = FENCE.match(line)
        if fence and fence[4]:
            yield f'{fence[1]}{fence[2]}{fence[3]} title="{fence[4]}"'
        elif is_code:
            yield line
        else:
            if ITEM.match(line) and before and not before.startswith(" ") and not ITEM.match(before):
                yield ""
            yield "".join(part if part.startswith("`") else _relinked(part, place) for part in CODE.split(line))
        before = line


def _classified(markdown: str) -> Iterator[tuple[bool, str]]:
    """Return each line, and whether it belongs to a block of code."""
    fence = ""
    for line in markdown.splitlines():
        found = FENCE.match(line)
        if found and (not fence or found[2] == fence):
            fence = "" if fence else found[2]
            yield True, line
        else:
            yield bool(fence), line


def _relinked(text: str, place: str) -> str:
    def site_link(found: re.Match[str]) -> str:
        address = urlsplit(found[2])
        if address.scheme or not address.path:
            return found[0]
        target = _source(_target(place, address.path))
        link = posixpath.relpath(target, posixpath.dirname(_source(place)) or ".")
        return f"{found[1]}{link}{'#' + address.fragment if address.fragment else ''}{found[3]}"

    return LINK.sub(site_link, text)


def _targets(place: str) -> Iterator[str]:
    """Return the places to which a page links."""
    path = ROOT / place
    if path.is_dir():
        yield from (path.relative_to(ROOT).as_posix() for path in _folder_files(path))
    elif path.suffix == ".md":
        prose = "\n".join(CODE.sub("", line) for is_code, line in _classified(path.read_text()) if not is_code)
        for _, address, _ in LINK.findall(prose):
            parts = urlsplit(address)
            if parts.path and not parts.scheme and (ROOT / _target(place, parts.path)).exists():
                yield _target(place, parts.path)


def _target(place: str, link: str) -> str:
    """Return the place that a link names: the README of a folder, if it has one."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link))
    return f"{target}/README.md" if (ROOT / target / "README.md").exists() else target


def _place(source: str) -> str:
    """Return the path in the repository of a page of the site."""
    if not source.startswith(OUTSIDE):
        return f"{DOCS}{source}"
    place = source.removeprefix(OUTSIDE)
    return place if (ROOT / place).exists() else place.removesuffix(".md")


def _source(place: str) -> str:
    """Return the path in the site, before it is built, of a file of the repository."""
    if place.startswith(DOCS) and not (ROOT / place).is_dir():
        return place.removeprefix(DOCS)
    is_page = (ROOT / place).is_dir() or Path(place).suffix not in {".md", *PICTURES}
    return f"{OUTSIDE}{place}{'.md' if is_page else ''}"


def _outside_file(place: str, config: MkDocsConfig) -> File:
    path, source = ROOT / place, _source(place)
    if source == f"{OUTSIDE}{place}":
        return File.generated(config, source, abs_src_path=str(path))
    head = f"---\nsearch: {{exclude: true}}\n---\n# {place}\n\n"
    if path.is_dir():
        items = (os.path.relpath(file, path.parent) for file in _folder_files(path))
        return File.generated(config, source, content=head + "".join(f"- [{item}]({item})\n" for item in items))
    language = LANGUAGES.get(path.suffix, path.suffix.removeprefix("."))
    return File.generated(config, source, content=f"{head}````{language}\n{path.read_text()}````\n")


def _folder_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
