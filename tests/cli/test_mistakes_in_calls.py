"""Mistakes in the call of a command: one line, exit status 2, also as JSON, and no file is written."""

import json
from pathlib import Path

import pytest

GOOD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=8 align=GRF
mov (M1, 8) V32(0,0)<1> 0x1:d
ret (M1, 1)
"""
FILES = {
    "good.visaasm": GOOD.encode(),
    "bad.visaasm": GOOD.replace("mov", "mvo").encode(),
    "bytes.visaasm": b"\xff\xfe\0\x80",
    "good.cl": b"kernel void k(global int *p) { *p = 1; }\n",
    "opencl.txt": b"kernel void a(global int *p) { p[0] = 1; }",
    "cut.isa": b"CISA\x04\x01\xff\xff\xff",
    "short.isa": b"CISA",
    "no_object.isa": b"not an object",
    "broken.zebin": b"\x7fELF" + bytes(30),
    "wrong.launch.yaml": b"groups: [0]\n",
    "args.launch.yaml": b"groups: [1]\nlocal_size: [16]\nargs: {x: {value: 1}}\n",
    "x.zeinfo.yaml": b"version: '1.14'\n",
    "self": b"@self\n",
}
TWO = "compare-runs good.visaasm"
GEN = "gen good.visaasm"
# A line as it is typed, with %20 for a blank inside of a word, and a part of what is said of it.
MISTAKES = [
    ("chek", "did you mean 'check'?"),
    ("zzzzz", "known commands: check, asm"),
    ("good.visaasm", "visa-lsp check good.visaasm"),
    ("--nonsense", "--nonsense"),
    ("--platform TGLP", "did you mean 'TGLLP'?"),
    ("--chekc x", "did you mean '--check'?"),
    ("@nope.args", "nope.args: no such file"),
    ("check @none", "none: no such file"),
    ("check @self", "nested deeper"),
    ("dap --port x", "--port"),
    ("check", "missing PATH"),
    ("check good.visaasm --no-such-option", "--no-such-option"),
    ("check --formt json x", "did you mean '--format'?"),
    ("check --format jsno x", "did you mean 'json'?"),
    ("check --format yaml x", "invalid choice"),
    ("check --select V999 x", "unknown rule 'V999'"),
    ("check --ignore dead-stor x", "did you mean 'dead-store'"),
    ("check --select V1O1 x", "expected a code such as"),
    ("check --per-file-ignores nothing x", "not GLOB:LIST"),
    ("check --max-warnings -1 x", "expected a whole number"),
    ("check --watch -", "cannot watch"),
    ("check --platform TGLP x", "did you mean"),
    ("check --baseline none.json good.visaasm", "none.json: no such file"),
    ("check --unsafe-fixes good.visaasm", "--unsafe-fixes needs --fix or --diff"),
    ("check x.zeinfo.yaml", "visa-lsp zeinfo check x.zeinfo.yaml checks it"),
    ("asm --outptu x y", "did you mean '--output'?"),
    ("asm missing.visaasm", "missing.visaasm"),
    ("asm good.visaasm good.visaasm -o x.isa", "-o"),
    ("asm good.visaasm -o good.visaasm", "this is also the input"),
    ("asm good.visaasm -o no/such/folder.isa", "no/such"),
    ("asm cut.isa", "cut.isa: expected a text, found an object"),
    ("asm good.visaasm --platform nowhere", "nowhere"),
    ("dis missing.isa", "missing.isa"),
    ("dis short.isa", "short.isa"),
    ("dis no_object.isa", "does not begin with CISA"),
    ("dis broken.zebin", "damaged ELF file"),
    ("dis short.isa short.isa -o x", "x"),
    ("diff . good.visaasm", "expected two files or two folders"),
    ("diff good.visaasm nowhere.visaasm", "nowhere.visaasm: no such file or directory"),
    ("diff good.visaasm %20", "expected a path, got an empty one"),
    ("diff folder folder", "no texts or objects"),
    ("diff - -", "standard input is read only once"),
    ("diff good.visaasm cut.isa", "cannot read the object"),
    ("diff good.visaasm good.visaasm -o good.visaasm", "this is also the input"),
    ("run good.visaasm --expect", "--expect"),
    ("run good.visaasm --checks nope", "unknown check 'nope'"),
    ("run good.visaasm --sweep", "--sweep"),
    ("run good.visaasm --profile-out missing/p.json", "missing/p.json"),
    (f"{TWO} gone.visaasm", "gone.visaasm: no such file"),
    (f"{TWO} .", ".: is a directory"),
    (f"{TWO} good.cl", "good.cl: this is OpenCL C"),
    (f"{TWO} bad.visaasm", "bad.visaasm:4"),
    ("compare-runs bad.visaasm good.visaasm", "bad.visaasm:4"),
    (f"{TWO} cut.isa", "cut.isa"),
    (f"{TWO} bytes.visaasm", "bytes.visaasm: not a vISA text"),
    (f"{TWO} good.visaasm --launch gone.yaml", "gone.yaml"),
    (f"{TWO} good.visaasm --launch wrong.launch.yaml", "0 is out of range"),
    (f"{TWO} good.visaasm --launch args.launch.yaml", "no launch ran: "),
    (f"{TWO} good.visaasm --rtol -1", "expected a number >= 0, got '-1'"),
    (f"{TWO} good.visaasm --platform XX", "unknown platform"),
    (TWO, "required: B"),
    ("why good.visaasm --value y[0] --launch nope.launch.yaml", "nope.launch.yaml"),
    (f"{GEN} --html - --format json", "the same file"),
    (f"{GEN} --html x -o x", "the same file"),
    (f"{GEN} --tool a --tool b --tool c", "expected --tool once, or twice"),
    (f"{GEN} --tool a --tool b --html x.html", "one finalizer"),
    (f"{GEN} --tool a --tool b --compare-options %20 -x", "not both"),
    (f"{GEN} --tool a --schedule --compare-options %20 -x", "--schedule shows one finalizer"),
    (f"{GEN} --tool missing-tool", "missing-tool"),
    (f"{GEN} --options 'open", "no closing quotation"),
    (f"{GEN} --source x.cl", "--source needs --html"),
    (f"{GEN} --html good.visaasm", "this is also the input"),
    (f"{GEN} -o good.visaasm", "this is also the input"),
    (f"{GEN} --timeout nan", "expected a number of seconds"),
    (f"{GEN} --platform none", "unknown platform"),
    ("gen opencl.txt", "OpenCL C"),
    ("gen short.isa", "short.isa"),
    ("gen broken.zebin", "zebin"),
    ("gen none", "no such file"),
    ("compile good.visaasm", "visa-lsp gen"),
    ("compile none.cl", "none.cl"),
    ("compile good.cl --ocloc missing-tool", "missing-tool"),
    ("stats --formta=json", "did you mean '--format'?"),
    ("stats short.isa", "short.isa"),
    ("stats broken.zebin", "zebin"),
    ("stats opencl.txt", "OpenCL"),
    ("stats missing.isa", "missing.isa: no such file"),
    ("stats empty", "no texts or objects in this folder"),
    ("stats good.visaasm --write-baseline missing/known.json", "missing/known.json"),
    ("stats good.visaasm --write-baseline good.visaasm", "good.visaasm"),
    ("stats good.visaasm --write-baseline other.visaasm", "other.visaasm"),
    ("stats good.visaasm --baseline nope.json", "nope.json"),
    ("zeinfo", "required"),
    ("zeinfo chekc x", "did you mean 'check'?"),
    ("zeinfo check", "required"),
    ("zeinfo check no.yaml", "no.yaml"),
    ("zeinfo emit no.visaasm", "no.visaasm"),
    ("zeinfo emit good.visaasm --launch no.yaml", "no.yaml"),
    ("zeinfo emit good.visaasm --platform nothing", "unknown platform"),
    ("read good.visaasm --kernel kk", "kk"),
    ("read good.visaasm --lines 1-2", "no instruction is in lines 1 to 2"),
    ("read good.visaasm --lines 9-2", "expected two line numbers"),
    ("help rnu", "did you mean 'run'?"),
    ("run --device DG2 x", "; the target is chosen by --platform"),
    ("compile --platform DG2 x", "; the target is chosen by --device"),
]
WITHOUT_JSON = {"chek", "zzzzz", "dap", "help", "emit"}


@pytest.fixture
def folder(here, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    for name, data in FILES.items():
        Path(name).write_bytes(data)
    Path("folder").mkdir()
    Path("empty").mkdir()
    return here


def files():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(("line", "words"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_in_a_call_is_told_and_nothing_is_written(run, folder, line, words):
    argv = [word.replace("%20", "") for word in line.split()]
    before = files()
    status, out, err = run(*argv)
    assert (status, len(err.splitlines())) == (2, 1), err
    assert words in err
    # A run prints its report before it writes the profile.
    assert out == "" or argv[0] == "run" or "json" in argv
    if line != "zeinfo" and WITHOUT_JSON.isdisjoint(argv) and not argv[0].startswith("--") and "--format" not in argv:
        status, out, _ = run(*argv, "--format", "json")
        assert (status, json.loads(out).get("exit", 2) if out.startswith("{") else 2) == (2, 2)
        assert words in out.replace('\\"', '"')
    assert files() == before
