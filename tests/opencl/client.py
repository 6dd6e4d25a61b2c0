"""A program with pyopencl: source, SPIR-V (the file of the first argument, if any), a fault in the last kernel."""

import sys
from pathlib import Path

import numpy as np
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
x = np.arange(64, dtype=np.float32)
memory = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
cl.Program(context, "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").build().twice(
    queue, x.shape, None, memory
)
for path in sys.argv[1:]:
    kernel = cl.Program(context, Path(path).read_bytes()).build().thrice
    kernel(queue, x.shape, None, memory, np.float32(3))
out = np.empty_like(x)
cl.enqueue_copy(queue, out, memory)
print(out[:4].tolist(), context.devices[0].name)
cl.Program(context, "kernel void over(global float *x) { x[get_global_id(0) + 1] = 0; }").build().over(
    queue, x.shape, None, memory
)
queue.finish()
