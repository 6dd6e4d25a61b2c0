// Where the kernels of an OpenCL C source are, by how they look. Pure functions, no editor.

// Bounded, so that a long source with many words but no kernel is read in no time.
const KERNEL = /\b(?:__)?kernel\b[^;{}]{0,300}?\bvoid\b[^;{}(]{0,100}?(?:__attribute__\s*\(\([^;{}]{0,200}?\)\)\s*)?\b([A-Za-z_]\w*)\s*\(/g;
const APART = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"?/g;

/** The kernels of a source with their lines, from 0. */
export function kernelsIn(source: string): { name: string; line: number }[] {
  // Comments and strings make room for as many blanks, so that what is behind them stays where it is.
  const bare = source.replace(APART, (all) => all.replace(/[^\n]/g, ' '));
  return [...bare.matchAll(KERNEL)].map((found) => ({ name: found[1]!, line: bare.slice(0, found.index).split('\n').length - 1 }));
}

/** The kernel that a line, from 0, belongs to: the last one that begins above; else the first. */
export function kernelAt(source: string, line: number): string | undefined {
  const kernels = kernelsIn(source);
  return (kernels.findLast((kernel) => kernel.line <= line) ?? kernels[0])?.name;
}
