# %% [markdown]
# A kernel on NumPy arrays, cell by cell: open this file as a notebook in VS Code or with jupytext, or run it with Python.
# `pip install 'visa-lsp[jit]'` beforehand; `[run]` has the interpreter alone.

# %%
from pathlib import Path

import numpy as np

import visa_lsp

HERE = Path(__file__).parent if "__file__" in globals() else Path()

# %% [markdown]
# A program shows its kernels, and what they take.

# %%
program = visa_lsp.load(HERE / "saxpy.visaasm")
program

# %% [markdown]
# Arrays are buffers, and are written in place. With a million elements the kernel is compiled; all checks watch.

# %%
n = 1 << 20
x = np.linspace(0, 1, n, dtype=np.float32)
y = np.ones(n, np.float32)
result = program.kernels["saxpy"].launch(groups=n // 256, local_size=256, args={"x": x, "y": y, "a": 2.5, "n": n})
result

# %%
np.testing.assert_allclose(y, 2.5 * x + 1, rtol=1e-6)
print(f"{result.instructions:,} instructions in {result.time.run[0] * 1e3:.1f} ms by {result.engine}")

# %% [markdown]
# The compiler's own text works in the same way: its ze_info, which lies beside it, tells what the arguments are.

# %%
mandelbrot = visa_lsp.load(HERE / "mandelbrot.visaasm").kernels["mandel"]
width, height = 64, 32
image = np.zeros((height, width, 4), np.uint8)
mandelbrot.launch((width // 16, height // 4), (16, 4), [image, width, height, -2.25, -1.25, 3 / width, 40])
for row in image[::2, :, 0]:
    print("".join(" .:-=+*#%@"[min(9, value // 26)] for value in row))

# %% [markdown]
# A kernel that is wrong: what it does is a list of findings, each with its line.

# %%
wrong = visa_lsp.load(HERE / "average.visaasm").launch(
    groups=2, local_size=16, args={"x": np.arange(32, dtype=np.float32)}
)
for fault in wrong.faults:
    print(f"{fault.place}: {fault.kind}: {fault.message}")
wrong

# %% [markdown]
# And a text that is no program.

# %%
visa_lsp.check('.version 4.1\n.kernel "k"\n    mov (M1, 8) V40(0,0)<1> 0x0:ud\n    ret (M1, 1)\n')
