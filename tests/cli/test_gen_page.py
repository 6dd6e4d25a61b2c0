"""The page of ``gen --html``: one file, nothing of the text's own runs in it, and what belongs together is marked."""

import html
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from fake_tools import fake_tool

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TEXT = """\
.version 4.1
.kernel "k"
.decl V0033 v_type=G type=d num_elts=8 align=GRF
    FILE "src/k.cl"
    LOC 2
    mov (M1, 8) V0033(0,0)<1> 0x1:d // </code></div><script>alert(1)</script>
"""
SOURCE = "kernel void k(global int *p) {\n  p[0] = 1; /* <b> */\n}\n"
CODE = "write_listing(); s = open(names[0]).read().replace('$0', '$2'); open(names[0], 'w').write(s)"


@pytest.fixture
def folder(here):
    (here / "text").mkdir()
    (here / "text" / "k.visaasm").write_text(TEXT)
    return here


@pytest.fixture
def page(run, folder):
    """Return the page of the text with a fake finalizer."""

    def make(*options, code=CODE):
        tool = fake_tool(folder / "bin", code)
        status, _, err = run("gen", "text/k.visaasm", "--html", "out.html", "--tool", tool, *options)
        return status, err, (folder / "out.html").read_text() if (folder / "out.html").exists() else ""

    return make


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.addresses = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action", "srcset")]
        if tag not in ("meta", "br", "link", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(page):
    status, err, text = page()
    assert (status, err) == (0, "")
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.seen.count("script") == 1
    assert set(tags.addresses) <= {"#"}
    assert not {"link", "img", "iframe", "object"} & set(tags.seen)
    assert "default-src 'none'" in text
    assert "http:" not in text
    assert "https:" not in text


def test_what_a_text_says_is_shown_and_does_not_run(page):
    _, _, text = page()
    assert "<script>alert(1)" not in text
    assert html.escape("</code></div><script>alert(1)</script>") in text


def test_every_line_of_the_text_is_there_as_it_is(page):
    _, _, text = page()
    column = re.search(r'<div class="column visa">(.*?)<div class="column gen">', text, re.DOTALL)[1]
    shown = [html.unescape(re.sub("<[^>]*>", "", code)) for code in re.findall("<code>(.*?)</code>", column)]
    assert [line.rstrip() for line in shown] == [*TEXT.split("\n")]


def test_the_source_beside_the_text_is_shown_and_tied(page, folder):
    (folder / "text" / "src").mkdir()
    (folder / "text" / "src" / "k.cl").write_text(SOURCE)
    _, _, text = page()
    assert '<div class="column source">' in text
    assert "p[<" in re.sub(r"</?span[^>]*>", "", text) or "p[" in text
    gen = re.search(r'<div class="line[^>]*data-v="6" data-s="2"[^>]*><i>1</i>', text)
    assert gen is not None
    assert "&lt;b&gt;" in text


def test_a_file_that_a_text_names_elsewhere_is_not_given_away(page, folder):
    (folder / "secret.cl").write_text("the secret")
    (folder / "text" / "linked.cl").symlink_to(folder / "secret.cl")
    for name in ("../secret.cl", str(folder / "secret.cl"), "linked.cl", "/etc/passwd"):
        (folder / "text" / "k.visaasm").write_text(TEXT.replace("src/k.cl", name))
        _, _, text = page()
        assert "secret" not in re.sub(r"FILE.*", "", text)
        assert '<div class="column source">' not in text


def test_a_source_that_the_user_names_is_shown(page, folder):
    (folder / "k.cl").write_text(SOURCE)
    _, _, text = page("--source", "k.cl")
    assert 'data-v="6" data-s="2"' in text
    (folder / "out.html").unlink()
    status, err, text = page("--source", "none.cl")
    assert (status, text) == (2, "")
    assert "none.cl: " in err


def test_findings_of_both_are_listed_with_whose_they_are(page, folder):
    (folder / "text" / "k.visaasm").write_text(TEXT.replace("V0033(0,0)", "V0099(0,0)"))
    status, _, text = page(code="print('near line 7: bad'); sys.exit(1)")
    assert status == 1
    found = re.findall(r'<li class="(\w+)"><a href="#" data-line="(\d+)">.*?<span class="who">([\w-]+)</span>', text)
    assert ("error", "6", "finalizer") in found
    assert ("error", "6", "visa-lsp") in found


def test_registers_tell_their_variables_and_variables_their_registers(page):
    _, _, text = page()
    assert '<span class="reg" title="V0033">r3.0</span>' in text
    assert re.search(r'<span class="var" title="r3.0">V0033</span>', text)


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium")
def test_a_line_that_is_chosen_marks_its_partners_in_a_browser(page, folder):
    (folder / "text" / "src").mkdir()
    (folder / "text" / "src" / "k.cl").write_text(SOURCE)
    _, _, text = page()
    keys = """<script>
      const press = (to, key) => to.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const lists = [...document.querySelectorAll(".lines")];
      press(lists[0], "End"); press(lists[0], "Home"); press(lists[0], "ArrowDown");
      const columns = () => [...new Set([...document.querySelectorAll(".there")].map((l) => l.closest(".column").classList[1]))].join();
      document.body.dataset.source = columns();
      press(lists[0], "ArrowRight");
      document.body.dataset.visa = [...document.querySelectorAll(".here")].map((l) => l.dataset.v).join();
      press(lists[1], "ArrowRight");
      document.body.dataset.gen = columns();
      const before = getComputedStyle(document.body).backgroundColor;
      press(lists[1], "t");
      document.body.dataset.theme = String(before !== getComputedStyle(document.body).backgroundColor);
    </script></body>"""
    (folder / "driven.html").write_text(text.replace("</body>", keys))
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--host-resolver-rules=MAP * ~NOTFOUND",  # there is no network
        "--proxy-server=127.0.0.1:9",
        f"--user-data-dir={folder}/profile",
        "--dump-dom",
    ]
    done = subprocess.run(
        [*command, f"file://{folder}/driven.html"], capture_output=True, text=True, check=False, timeout=120
    )
    body = re.search(r"<body[^>]*>", done.stdout)
    assert body is not None, done.stderr[-2000:]
    assert 'data-source="source,visa,gen"' in body[0]
    assert 'data-visa="6"' in body[0]
    assert 'data-gen="source,visa,gen"' in body[0]
    assert 'data-theme="true"' in body[0]
