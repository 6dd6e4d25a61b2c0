"""Lines that the help of each command ends with, to be typed as they are in the folder ``examples/``; a test types them."""

from __future__ import annotations

from typing import Final

HEADING: Final = "examples, to be typed in the folder examples/ of the repository:"

# By command: the line, and what it does.
EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "visa-lsp": (
        ("visa-lsp check .", "report what is wrong in every text of the folder"),
        ("visa-lsp run saxpy.visaasm", "run a kernel and compare its result"),
        ("visa-lsp explain mad", "say what an instruction does"),
    ),
    "visa-lsp check": (
        ("visa-lsp check .", "every text of the folder and those below"),
        (
            "visa-lsp check saxpy.visaasm --platform DG2 --extend-select ALL",
            "one text, for one platform, by every rule",
        ),
        ("visa-lsp check . --max-errors 10 --format github", "the first ten errors, as GitHub shows them"),
    ),
    "visa-lsp asm": (
        ("visa-lsp asm saxpy.visaasm", "write saxpy.isa beside the text"),
        ("visa-lsp asm saxpy.visaasm mandelbrot.visaasm", "write an object beside each text"),
        ("visa-lsp asm mandelbrot.visaasm --zebin -o mandelbrot.zebin", "write the object with its ze_info"),
    ),
    "visa-lsp dis": (
        ("visa-lsp dis saxpy.isa", "print the text of what `visa-lsp asm saxpy.visaasm` has written"),
        ("visa-lsp dis saxpy.isa --summary", "list its kernels, inputs and attributes"),
        (
            "visa-lsp dis mandelbrot.zebin -o mandelbrot",
            "write what is in the zebin of `visa-lsp asm --zebin` into a folder",
        ),
    ),
    "visa-lsp diff": (
        ("visa-lsp diff saxpy.visaasm saxpy.isa", "compare a text with the object of `visa-lsp asm saxpy.visaasm`"),
        ("visa-lsp diff saxpy.visaasm average.visaasm --format json", "tell what differs, for a program"),
        ("visa-lsp diff saxpy.visaasm saxpy.isa --format html -o diff.html", "write a page for a browser"),
    ),
    "visa-lsp run": (
        ("visa-lsp run saxpy.visaasm", "run it as saxpy.launch.yaml says, and compare the result"),
        ("visa-lsp run average.visaasm --first-fault", "end at the first thing that the kernel does wrong"),
        ("visa-lsp run --sweep saxpy_sizes.launch.yaml", "run it at every point of a sweep, with a row for each"),
    ),
    "visa-lsp compare-runs": (
        ("visa-lsp compare-runs saxpy.visaasm saxpy.isa", "run a text and its object as saxpy.launch.yaml says"),
        (
            "visa-lsp compare-runs saxpy.visaasm saxpy.isa --launch saxpy_sizes.launch.yaml",
            "the same at every point of a sweep",
        ),
        ("visa-lsp compare-runs saxpy.visaasm saxpy.isa --ulp 2 --format json", "with a tolerance, for a program"),
    ),
    "visa-lsp gen": (
        ("visa-lsp gen saxpy.visaasm", "print the machine code of each line (with Intel's finalizer)"),
        ("visa-lsp gen saxpy.visaasm --html saxpy.html", "write a page that shows both side by side"),
        ("visa-lsp gen mandelbrot.visaasm --compare-options '' -noschedule", "compare two sets of options"),
    ),
    "visa-lsp compile": (
        (
            "visa-lsp compile scale.cl -o built",
            "write text, machine code, zebin and a launch file (with Intel's ocloc)",
        ),
        ("visa-lsp compile scale.cl -o built --device tgllp,pvc", "the same for two devices, with a table"),
        ("visa-lsp run scale.cl", "compile it and run it, with a launch that is made up"),
    ),
    "visa-lsp zeinfo": (
        ("visa-lsp zeinfo check mandelbrot.zeinfo.yaml", "judge ze_info, and compare it with mandelbrot.visaasm"),
        ("visa-lsp zeinfo emit saxpy.visaasm", "print the ze_info of a text that is written by hand"),
        ("visa-lsp zeinfo emit saxpy.visaasm -o saxpy.zeinfo.yaml", "write it beside the text"),
    ),
    "visa-lsp zeinfo check": (
        ("visa-lsp zeinfo check mandelbrot.zeinfo.yaml", "judge it, and compare it with mandelbrot.visaasm"),
        ("visa-lsp zeinfo check mandelbrot.zeinfo.yaml --no-text", "judge it alone"),
        (
            "visa-lsp zeinfo check mandelbrot.zebin --text mandelbrot.isa",
            "judge a zebin's against an object, both of `visa-lsp asm`",
        ),
    ),
    "visa-lsp zeinfo emit": (
        ("visa-lsp zeinfo emit saxpy.visaasm", "print it; saxpy.launch.yaml tells what the arguments are"),
        ("visa-lsp zeinfo emit saxpy.visaasm -o saxpy.zeinfo.yaml", "write it beside the text"),
        ("visa-lsp zeinfo emit saxpy.visaasm --platform DG2", "make it for a platform"),
    ),
    "visa-lsp stats": (
        ("visa-lsp stats mandelbrot.visaasm", "the registers that a kernel takes, and where the most"),
        ("visa-lsp stats saxpy.visaasm mandelbrot.visaasm --max-pressure 64", "a table; exit 1 above 64 GRF rows"),
        ("visa-lsp stats mandelbrot.visaasm --format json", "the figures of each line, for a program"),
    ),
    "visa-lsp read": (
        ("visa-lsp read mandelbrot.visaasm", "show a kernel as pseudo-code"),
        ("visa-lsp read mandelbrot.visaasm --lines 130-150", "show the part that these lines of the text stand for"),
        ("visa-lsp read mandelbrot.visaasm --format json", "tell the vISA lines behind each line, for a program"),
    ),
    "visa-lsp explain": (
        ("visa-lsp explain mad", "an instruction: operands, types, what to take care of"),
        ("visa-lsp explain V101 %r0", "a finding's code and a predefined variable"),
        ("visa-lsp explain 'work item'", "a word of the glossary"),
    ),
}


def example_lines(program: str) -> str:
    """The examples of a command, as its help shows them; empty where it has none."""
    rows = EXAMPLES.get(program, ())
    return "\n".join([HEADING, *(f"  {line}\n      {what}" for line, what in rows)]) if rows else ""
