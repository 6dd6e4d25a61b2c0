"""Examples at the end of each command's help; a test runs them in the folder ``examples/``."""

from __future__ import annotations

from typing import Final

HEADING: Final = "examples, to run in the folder examples/ of the repository:"

# By command: the command line and its description.
EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "visa-lsp": (
        ("visa-lsp check .", "report what is wrong in every text of the folder"),
        ("visa-lsp run saxpy.visaasm", "run a kernel and compare its result"),
        ("visa-lsp explain mad", "explain an instruction"),
    ),
    "visa-lsp check": (
        ("visa-lsp check .", "check every text of the folder and its subfolders"),
        (
            "visa-lsp check saxpy.visaasm --platform DG2 --extend-select ALL",
            "check one text for one platform, with every rule",
        ),
        ("visa-lsp check . --max-errors 10 --format github", "report the first ten errors as GitHub annotations"),
    ),
    "visa-lsp asm": (
        ("visa-lsp asm saxpy.visaasm", "write saxpy.isa beside the text"),
        ("visa-lsp asm saxpy.visaasm mandelbrot.visaasm", "write an object beside each text"),
        ("visa-lsp asm mandelbrot.visaasm --zebin -o mandelbrot.zebin", "write the object with its ze_info"),
    ),
    "visa-lsp dis": (
        ("visa-lsp dis saxpy.isa", "disassemble the object that `visa-lsp asm saxpy.visaasm` wrote"),
        ("visa-lsp dis saxpy.isa --summary", "list its kernels, inputs and attributes"),
        (
            "visa-lsp dis mandelbrot.zebin -o mandelbrot",
            "write the parts of a zebin from `visa-lsp asm --zebin` into a folder",
        ),
    ),
    "visa-lsp diff": (
        ("visa-lsp diff saxpy.visaasm saxpy.isa", "compare a text with its object from `visa-lsp asm saxpy.visaasm`"),
        ("visa-lsp diff saxpy.visaasm average.visaasm --format json", "print the differences as JSON"),
        ("visa-lsp diff saxpy.visaasm saxpy.isa --format html -o diff.html", "write an HTML page"),
    ),
    "visa-lsp run": (
        ("visa-lsp run saxpy.visaasm", "run the launch of saxpy.launch.yaml and check its result"),
        ("visa-lsp run average.visaasm --first-fault", "stop at the first fault"),
        ("visa-lsp run --sweep saxpy_sizes.launch.yaml", "run every point of a sweep and print a row for each"),
    ),
    "visa-lsp compare-runs": (
        ("visa-lsp compare-runs saxpy.visaasm saxpy.isa", "run a text and its object with saxpy.launch.yaml"),
        (
            "visa-lsp compare-runs saxpy.visaasm saxpy.isa --launch saxpy_sizes.launch.yaml",
            "run both at every point of a sweep",
        ),
        ("visa-lsp compare-runs saxpy.visaasm saxpy.isa --ulp 2 --format json", "allow a tolerance and print JSON"),
    ),
    "visa-lsp why": (
        ("visa-lsp why saxpy.visaasm --value 'y[37]'", "print the instructions, lanes and values that made an element"),
        ("visa-lsp why average.visaasm", "explain the first failed expectation, else the first fault"),
        (
            "visa-lsp why saxpy.visaasm --value 'y[0]' --against saxpy.visaasm --format json",
            "compare with the run of another program and print JSON",
        ),
    ),
    "visa-lsp verify": (
        ("visa-lsp verify saxpy.visaasm", "finalize a text, run both and compare every store"),
        ("visa-lsp verify saxpy.visaasm average.visaasm --format json", "verify two texts and print JSON"),
        ("visa-lsp verify average.visaasm --hazards --slack", "watch the scoreboard only, and list unneeded waits"),
    ),
    "visa-lsp gen": (
        ("visa-lsp gen saxpy.visaasm", "print the machine code of each line (with Intel's finalizer)"),
        ("visa-lsp gen saxpy.visaasm --html saxpy.html", "write an HTML page with both side by side"),
        ("visa-lsp gen saxpy.visaasm --schedule", "add the finalizer's cycles and stalls"),
    ),
    "visa-lsp compile": (
        (
            "visa-lsp compile scale.cl -o built",
            "write text, machine code, zebin and a launch file (with Intel's ocloc)",
        ),
        ("visa-lsp compile scale.cl -o built --device tgllp,pvc", "compile for two devices and print a table"),
        ("visa-lsp run scale.cl", "compile and run it with a generated launch"),
    ),
    "visa-lsp import": (
        ("visa-lsp import captured_axpy -o axpy", "write a captured enqueue as a launch file (with Intel's ocloc)"),
        ("visa-lsp import captured_axpy -o axpy_dg2 --platform DG2", "compile its program for another device"),
        ("visa-lsp import captured_axpy -o axpy_json --format json", "print the written files as JSON"),
    ),
    "visa-lsp exec": (
        ("visa-lsp exec -- clinfo", "run a program of OpenCL on the simulated device (with ocloc and pocl)"),
        ("visa-lsp exec --capture found -- ./program", "write each enqueue as a launch file, for visa-lsp run"),
        ("visa-lsp exec --report report.json -- python program.py", "write faults and refused calls as JSON"),
    ),
    "visa-lsp completions": (
        ("visa-lsp completions bash", "for ~/.local/share/bash-completion/completions/visa-lsp"),
        ("visa-lsp completions zsh", "for a file _visa-lsp in a folder of $fpath"),
        ("visa-lsp completions fish", "for ~/.config/fish/completions/visa-lsp.fish"),
    ),
    "visa-lsp help": (
        ("visa-lsp help", "list the commands"),
        ("visa-lsp help run", "describe a command"),
        ("visa-lsp help --man", "print the manual page, for ~/.local/share/man/man1/visa-lsp.1"),
    ),
    "visa-lsp zeinfo": (
        ("visa-lsp zeinfo check mandelbrot.zeinfo.yaml", "check ze_info and compare it with mandelbrot.visaasm"),
        ("visa-lsp zeinfo emit saxpy.visaasm", "print the ze_info of a text"),
        ("visa-lsp zeinfo emit saxpy.visaasm -o saxpy.zeinfo.yaml", "write it to a file"),
    ),
    "visa-lsp zeinfo check": (
        ("visa-lsp zeinfo check mandelbrot.zeinfo.yaml", "check ze_info and compare it with mandelbrot.visaasm"),
        ("visa-lsp zeinfo check mandelbrot.zeinfo.yaml --no-text", "check only ze_info"),
        (
            "visa-lsp zeinfo check mandelbrot.zebin --text mandelbrot.isa",
            "compare a zebin with an object, both from `visa-lsp asm`",
        ),
    ),
    "visa-lsp zeinfo emit": (
        ("visa-lsp zeinfo emit saxpy.visaasm", "print the ze_info; saxpy.launch.yaml describes the arguments"),
        ("visa-lsp zeinfo emit saxpy.visaasm -o saxpy.zeinfo.yaml", "write it to a file"),
        ("visa-lsp zeinfo emit saxpy.visaasm --platform DG2", "generate it for a platform"),
    ),
    "visa-lsp stats": (
        ("visa-lsp stats mandelbrot.visaasm", "print the register pressure and where it peaks"),
        (
            "visa-lsp stats saxpy.visaasm mandelbrot.visaasm --max-pressure 64",
            "print a table; exit 1 above 64 GRF rows",
        ),
        ("visa-lsp stats mandelbrot.visaasm --format json", "print the figures of each line as JSON"),
    ),
    "visa-lsp prove": (
        ("visa-lsp prove saxpy.visaasm", "prove that no launch has a race or leaves a buffer, or show one that does"),
        ("visa-lsp prove saxpy.visaasm --property bounds --assume 'n <= 4096'", "assume a condition of the launches"),
        ("visa-lsp prove saxpy.visaasm --launches found", "write the launch files of refutations, for visa-lsp run"),
    ),
    "visa-lsp read": (
        ("visa-lsp read mandelbrot.visaasm", "show a kernel as pseudo-code"),
        ("visa-lsp read mandelbrot.visaasm --lines 130-150", "show only the pseudo-code of these lines of the text"),
        ("visa-lsp read mandelbrot.visaasm --format json", "print JSON with the vISA lines of each line"),
    ),
    "visa-lsp explain": (
        ("visa-lsp explain mad", "explain an instruction: operands, types, pitfalls"),
        ("visa-lsp explain V101 %r0", "explain a finding and a predefined variable"),
        ("visa-lsp explain 'work item'", "explain a term of the glossary"),
    ),
}


def example_lines(program: str) -> str:
    """Return the examples in the help of a command; empty if it has none."""
    rows = EXAMPLES.get(program, ())
    return "\n".join([HEADING, *(f"  {line}\n      {what}" for line, what in rows)]) if rows else ""
