// The profile of a run as heat by line. Pure functions, no editor; lines count from 1, heat from 1 (little) to 5 (the most).

/** `profile` of `visa-lsp run --profile --format json`, as far as heat shows it. */
export interface Profile {
  kernels: KernelProfile[];
}

interface KernelProfile {
  lines: { line: number | null; executions: number; active?: number; lanes?: number; idle?: number }[];
  messages?: MessageProfile[];
}

interface MessageProfile {
  line: number | null;
  kind: string;
  memory: string;
  messages: number;
  bytes: number;
  cache_lines: number;
  coalescing: number;
  bank_conflicts: number;
}

export const MEASURES = ['executions', 'idle', 'traffic'] as const;
export type Measure = (typeof MEASURES)[number];
export const HOTTEST = 5;

export interface Heat {
  level: number;
  words: string;
}

interface Amount {
  amount: number;
  words: string;
}

/** The heat of each line that has any. */
export function heatOf(profile: Profile, measure: Measure): Map<number, Heat> {
  const amounts = new Map<number, Amount>();
  for (const kernel of profile.kernels) {
    for (const [line, found] of measure === 'traffic' ? traffic(kernel) : executed(kernel, measure)) {
      const before = amounts.get(line);
      const words = before === undefined ? found.words : `${before.words}; ${found.words}`;
      amounts.set(line, { amount: found.amount + (before?.amount ?? 0), words });
    }
  }
  const highest = Math.max(0, ...[...amounts.values()].map(({ amount }) => amount));
  const warm = [...amounts].filter(([, { amount }]) => amount > 0);
  return new Map(warm.map(([line, { amount, words }]) => [line, { level: Math.ceil((HOTTEST * amount) / highest), words }]));
}

/** A kernel of `visa.gen` with the finalizer's schedule, as far as heat shows it. */
export interface ScheduledKernel {
  name: string;
  lines?: { line: number; cycles?: number; stall?: number }[];
}

/** The heat of each line that takes cycles, by the finalizer's schedule. */
export function heatOfSchedule(kernels: ScheduledKernel[]): Map<number, Heat> {
  const lines = kernels.flatMap((kernel) => kernel.lines ?? []).filter(({ cycles = 0 }) => cycles > 0);
  const highest = Math.max(0, ...lines.map(({ cycles = 0 }) => cycles));
  return new Map(lines.map(({ line, cycles = 0, stall = 0 }) => {
    const words = `${counted(cycles, 'cycle')} of the finalizer's schedule${stall > 0 ? `, ${stall.toLocaleString('en-US')} of them waiting` : ''}`;
    return [line, { level: Math.ceil((HOTTEST * cycles) / highest), words }];
  }));
}

/** The hottest lines; of neighbours that say the same only the first. */
export function hotLines(heat: Map<number, Heat>): number[] {
  const lines = [...heat.keys()].sort((a, b) => a - b);
  return lines.filter((line, n) => {
    const before = heat.get(lines[n - 1] ?? -1);
    return heat.get(line)!.level === HOTTEST && (before?.level !== HOTTEST || before.words !== heat.get(line)!.words);
  });
}

/** The heat of a stretch of lines: that of its hottest line. */
export function hottest(heat: Map<number, Heat>, first: number, last: number): Heat | undefined {
  const inside = [...heat].filter(([line]) => first <= line && line <= last).map(([, found]) => found);
  return inside.length === 0 ? undefined : inside.reduce((a, b) => (b.level > a.level ? b : a));
}

function executed(kernel: KernelProfile, measure: Measure): [number, Amount][] {
  return kernel.lines.flatMap(({ line, executions, active = 0, lanes = 0, idle = 0 }): [number, Amount][] => {
    if (line === null) {
      return [];
    }
    return measure === 'executions'
      ? [[line, { amount: executions, words: counted(executions, 'execution') }]]
      : [[line, { amount: lanes - active, words: `${percent(idle)} of ${counted(lanes, 'lane')} idle` }]];
  });
}

/** Of global memory the cache lines that are touched, of shared local memory the rounds that its banks take. */
function traffic(kernel: KernelProfile): [number, Amount][] {
  return (kernel.messages ?? []).flatMap((one): [number, Amount][] => {
    if (one.line === null) {
      return [];
    }
    const bytes = counted(one.bytes, 'byte');
    const local = one.memory === 'slm';
    const amount = local ? one.messages + one.bank_conflicts : one.cache_lines;
    const words = local
      ? `${bytes} of shared local memory, ${counted(one.bank_conflicts, 'bank conflict')}`
      : `${bytes} in ${counted(one.cache_lines, 'cache line')}, ${percent(one.coalescing)} asked for`;
    return [[one.line, { amount, words: `${one.kind} ${words}` }]];
  });
}

function counted(count: number, word: string): string {
  return `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
