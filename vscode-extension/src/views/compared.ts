// What is said of two programs that were compared; knows no editor.

/** What `visa.diff` answers. */
export interface Comparison {
  ok: boolean;
  error?: string;
  same?: boolean;
  a?: string;
  b?: string;
  kernels?: { name: string; same: boolean; renamed: number; changes: unknown[] }[];
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** One sentence: whether they are the same, else how much differs in how many kernels. */
export function summary(comparison: Comparison): string {
  const kernels = comparison.kernels ?? [];
  const differing = kernels.filter((kernel) => !kernel.same);
  if (differing.length === 0) {
    const renamed = kernels.reduce((sum, kernel) => sum + kernel.renamed, 0);
    return renamed === 0 ? 'the programs are the same' : `the programs are the same but for ${counted(renamed, 'name')}`;
  }
  const changes = differing.reduce((sum, kernel) => sum + kernel.changes.length, 0);
  return `${counted(changes, 'difference')} in ${differing.length} of ${counted(kernels.length, 'kernel')}`;
}
