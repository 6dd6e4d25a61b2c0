import assert from 'node:assert';
import { test } from 'node:test';
import { kernelAt, kernelsIn } from '../src/views/kernels.ts';

const source = `// kernel void no(
/* kernel void
   neither( */
kernel void first(global int *p) { char *s = "kernel void nor("; }
void helper(int a) {}

__kernel
__attribute__((reqd_work_group_size(16, 1, 1)))
void second(int a);
kernel void __attribute__((intel_reqd_sub_group_size(16))) third(int a) {}
`;

test('kernels are found with their lines, and not in comments and strings', () => {
  assert.deepEqual(kernelsIn(source), [
    { name: 'first', line: 3 },
    { name: 'second', line: 6 },
    { name: 'third', line: 9 },
  ]);
});

test('a line belongs to the kernel that begins above it', () => {
  assert.deepEqual([0, 3, 5, 6, 20].map((line) => kernelAt(source, line)), ['first', 'first', 'first', 'second', 'third']);
});
