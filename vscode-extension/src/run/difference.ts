// Two arrays as texts that an editor can show as a difference: the elements that differ with some around them.

import { indexesOf, place, reader, show, size, type ShownArray } from './array.ts';
import type { Expectation, Values } from './report.ts';
import { held, mismatchOf } from './shown.ts';

export interface Texts {
  expected: string;
  got: string;
}

const AROUND = 2; // lines
const MOST_LINES = 300;
const MOST_COLUMNS = 16; // in a line; longer rows have an element in each
const GAP = '⋯';

/** Both sides of an expectation that does not hold; undefined where nothing of them is known. */
export function textsOf(expectation: Expectation, buffer: Values | undefined): Texts | undefined {
  const { expected, differs } = mismatchOf(expectation);
  const got = buffer && held(buffer).array;
  if (got !== undefined && expected !== undefined) {
    return differs === undefined ? { expected: whole(expected), got: whole(got) } : around(got, expected, differs);
  }
  const first = expectation.differences?.first ?? [];
  const lines = (side: 'got' | 'expected'): string => first.map((d) => `${label(d.at)} ${d[side]}`).join('\n');
  return first.length === 0 ? undefined : { expected: lines('expected'), got: lines('got') };
}

function label(at: number[]): string {
  return `[${at.join(', ')}]`;
}

/** How many elements stand in a line: a row of a small matrix, else one. */
function columnsOf(array: ShownArray): number {
  const last = array.shape.at(-1) ?? 1;
  return array.shape.length >= 2 && last >= 1 && last <= MOST_COLUMNS ? last : 1;
}

function whole(array: ShownArray): string {
  const columns = columnsOf(array);
  const rows = Math.ceil(size(array) / columns);
  return table(array, columns, [...Array(Math.min(rows, MOST_LINES)).keys()], rows > MOST_LINES);
}

function around(got: ShownArray, expected: ShownArray, differs: Uint8Array): Texts {
  const columns = columnsOf(got);
  const last = Math.ceil(size(got) / columns) - 1;
  const rows = new Set<number>();
  const found = indexesOf(differs, MOST_LINES * columns);
  for (const index of found) {
    const row = Math.floor(index / columns);
    for (let near = Math.max(0, row - AROUND); near <= Math.min(last, row + AROUND); near++) {
      rows.add(near);
    }
  }
  const chosen = [...rows].sort((a, b) => a - b).slice(0, MOST_LINES);
  const cut = chosen.at(-1)! < last;
  return { expected: table(expected, columns, chosen, cut, got.shape), got: table(got, columns, chosen, cut, got.shape) };
}

function table(array: ShownArray, columns: number, rows: number[], cut: boolean, shape = array.shape): string {
  const read = reader(array);
  const lines: string[] = [];
  let next = 0;
  for (const row of rows) {
    if (row !== next) {
      lines.push(GAP);
    }
    next = row + 1;
    const start = row * columns;
    const cells = Array.from({ length: columns }, (_, n) => (start + n < size(array) ? show(array, read, start + n, 'decimal') : ''));
    lines.push(`${label(columns > 1 ? place(shape, start).slice(0, -1) : place(shape, start))} ${cells.join('  ')}`);
  }
  return [...lines, ...(cut ? [GAP] : [])].join('\n');
}
