"""The documentation site: built strictly, links followed, examples as they are carried out, opened in a browser."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from vscode import environment, why_missing

from visa_lsp.app.settings import TYPES
from visa_lsp.cli.help_texts import help_texts
from visa_lsp.cli.main import COMMANDS
from visa_lsp.generate.site.forms import EXTRA_FORMS, forms
from visa_lsp.generate.site.opcode_pages import FOLDER, page_name
from visa_lsp.generate.site.pages import pages
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.table import TABLE

ROOT = Path(__file__).parents[2]
NO_MKDOCS = None if find_spec("material") else "mkdocs-material is not installed: pip install '.[docs]'"
SOUGHT = "gather4_scaled"


# ---- the pages that are made


@pytest.mark.full
def test_every_mnemonic_has_a_page_of_its_own():
    names = [page_name(mnemonic) for mnemonic in TABLE.by_mnemonic]
    assert len({name.lower() for name in names}) == len(names)
    assert {f"{FOLDER}/{name}.md" for name in names} <= set(pages(ROOT, help_texts()))


@pytest.mark.full
def test_pages_say_what_the_table_says():
    made = pages(ROOT, help_texts())
    for mnemonic, rows in TABLE.by_mnemonic.items():
        text = made[f"{FOLDER}/{page_name(mnemonic)}.md"]
        for row in rows:
            assert row.syntax in text
            assert row.opcode is None or f"0x{row.opcode:02X}" in text
        for heading in ("Where", "Encoding", "Simulation", "Example"):
            assert re.search(rf"^##+ {heading}$", text, re.MULTILINE), (mnemonic, heading)


@pytest.mark.full
def test_the_index_of_pages_has_a_line_for_each_mnemonic():
    index = pages(ROOT, help_texts())[f"{FOLDER}/index.md"]
    for mnemonic, rows in TABLE.by_mnemonic.items():
        assert f"| [`{mnemonic}`]({page_name(mnemonic)}.md) | {rows[0].summary} |" in index


def test_records_of_forms_are_those_that_the_finalizer_writes():
    """For lines of the corpus the bytes that both agree on are known: ``forms.tsv``."""
    lines = (ROOT / "tests/own/forms/forms.tsv").read_text(encoding="utf-8").splitlines()[1:]
    known = {(line, p): data for line, names, _, _, data in (x.split("\t") for x in lines) for p in names.split(",")}
    compared = [(form, data) for form in forms(ROOT).values() if (data := known.get((form.line, form.platform), ""))]
    assert len(compared) > 80
    for form, data in compared:
        assert form.record is not None
        assert form.record.hex() == data, form.line


def test_what_a_form_changes_is_what_arithmetic_says():
    found = forms(ROOT)
    (change,) = found["add3"].changes
    before, after = ([int(word) for word in text.split(", ")[:-1]] for text in (change.before, change.after))
    line = found["add3"].line
    assert line.endswith("VD(0,0)<1;1,0> VD2(0,0)<1;1,0> VW(0,0)<1;1,0>")
    numbers = {"VD": before, "VD2": [n + 1 for n in before], "VW": [n + 2 for n in before]}
    assert after == [sum(lanes) for lanes in zip(*numbers.values(), strict=True)]


def test_every_form_of_the_site_is_used():
    lines = (ROOT / EXTRA_FORMS).read_text(encoding="utf-8").splitlines()[1:]
    assert set(lines) <= {form.line for form in forms(ROOT).values()}


def test_most_instructions_that_a_finalizer_reads_have_a_line():
    """The words of the specification alone aside; what the corpus lacks is told on the page, and must not grow."""
    read = {row.mnemonic for row in TABLE.rows if row.dialects != {Dialect.SEED}}
    made = pages(ROOT, help_texts())
    without = [name for name in read if "has no line of it" in made[f"{FOLDER}/{page_name(name)}.md"]]
    assert len(without) <= 30, sorted(without)


def test_commands_and_settings_are_those_of_parsers_and_tables():
    made = pages(ROOT, help_texts())
    commands, settings = made["reference/commands.md"], made["reference/settings.md"]
    for name in (*COMMANDS, "zeinfo check", "zeinfo emit"):
        assert f"## visa-lsp {name}\n" in commands
    assert "--first-fault" in commands
    assert all(f"| `{key}` |" in settings for key in TYPES)
    manifest = json.loads((ROOT / "vscode-extension/package.json").read_text(encoding="utf-8"))
    assert all(f"| `{name}` |" in settings for name in manifest["contributes"]["configuration"]["properties"])


# ---- the site


class Links(HTMLParser):
    """What a page points to and shows, and the places in it that others may point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.to: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.to.append(found["href"])
        if tag == "link" and found.get("rel") in {"stylesheet", "icon", "preload"}:
            self.loaded.append(found["href"])
        if found.get("src"):
            self.loaded.append(found["src"])


NEEDS_MKDOCS = pytest.mark.skipif(bool(NO_MKDOCS), reason=NO_MKDOCS or "it is here")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, built as the documents say."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", "docs/site/mkdocs.yml"]
    done = subprocess.run([*command, "--site-dir", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.full  # to build the site takes ten times what its pages take
@NEEDS_MKDOCS
def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    found = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(found) > 400
    lost, elsewhere = [], []
    for path, links in found.items():
        if path.name == "404.html":  # it stands for any address, and its links are absolute
            continue
        elsewhere += [(path.name, link) for link in links.loaded if urlsplit(link).netloc]
        for link in (*links.to, *links.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            goal = goal / "index.html" if goal.is_dir() else goal
            if not goal.exists() or (parts.fragment and goal in found and parts.fragment not in found[goal].places):
                lost.append((path.relative_to(site).as_posix(), link))
    assert not elsewhere
    assert not [entry for entry in lost if "#__" not in entry[1]]


@pytest.mark.full  # to build the site takes ten times what its pages take
@NEEDS_MKDOCS
def test_every_document_is_a_page(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 15_000_000
    fragments = set((ROOT / "docs" / "changes").glob("*.*.md"))
    for path in {*(ROOT / "docs").rglob("*.md")} - fragments:
        name = path.relative_to(ROOT / "docs").with_suffix(".html").as_posix().replace("README.html", "index.html")
        assert (site / name).exists(), name


@pytest.mark.full  # to build the site takes ten times what its pages take
@NEEDS_MKDOCS
@pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "it is here")
def test_the_site_in_a_browser(site, tmp_path):
    handler = functools.partial(SimpleHTTPRequestHandler, directory=site)
    handler.log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}"
        pictures = tmp_path / "pictures"
        pictures.mkdir()
        script = str(Path(__file__).with_name("site.mjs"))
        command = ["node", script, origin, str(pictures), SOUGHT, f"{page_name(SOUGHT)}.html"]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=900, check=False)
        server.shutdown()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line for line in lines if line.get("ok") is False] == []
    assert len(lines) == 4
    assert {"first-light.png", "first-dark.png", "search.png", "instruction.png"} <= {
        path.name for path in pictures.iterdir()
    }
