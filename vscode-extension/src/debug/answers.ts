// What the adapter answers to the requests that only it has; docs/debugging.md is their reference. Values only.

export interface LaneRow {
  name: string;
  type: string;
  kind: string; // variable, predicate, address
  values: string[]; // of each lane; fewer where there are fewer elements
  changed: boolean[];
}

export interface ThreadLine {
  id: number;
  name: string;
  line: number; // from 1
}

export interface LanesAnswer {
  lanes: number;
  active: boolean[];
  rows: LaneRow[];
  at: { line: number; source: { name: string; path?: string; sourceReference?: number } };
  region?: { name: string; elements: number[] };
  threads: ThreadLine[];
}

/** What an operand has in each lane. */
export interface OperandLanes {
  expression: string;
  type: string;
  values: string[];
}

/** How numbers are shown: as they are declared, or all of them one way. */
export const FORMATS = ['declared', 'hex', 'signed', 'float'] as const;
export type Format = (typeof FORMATS)[number];

/** A thread's number within its group, for where there is little room. */
export function shortName(thread: ThreadLine): string {
  return /\bthread (\d+)/.exec(thread.name)?.[1] ?? String(thread.id);
}

/** The threads on each line. */
export function byLine(threads: ThreadLine[]): Map<number, ThreadLine[]> {
  const found = new Map<number, ThreadLine[]>();
  for (const thread of threads) {
    found.set(thread.line, [...(found.get(thread.line) ?? []), thread]);
  }
  return found;
}

const DIGITS = 6;

/** A number as it fits into a cell: of a fraction the first digits, as many as tell lanes apart. */
export function short(value: string): string {
  if (!/^-?\d+\.\d+(e[-+]?\d+)?$/.test(value) || value.length <= DIGITS + 2) {
    return value;
  }
  const [digits, exponent = ''] = Number(value).toPrecision(DIGITS).split('e');
  return digits!.replace(/\.?0+$/, '') + (exponent && `e${exponent}`);
}
