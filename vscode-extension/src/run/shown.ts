// Buffers as they are shown: what is not as expected first, then what the kernel wrote, then what it left as it was.

import { ArrayError, arrayOf, type ShownArray } from './array.ts';
import type { Differences, Expectation, ImageArgument, Report, Values } from './report.ts';

export type Group = 'wrong' | 'output' | 'input';

const ORDER: readonly Group[] = ['wrong', 'output', 'input'];

/** What an expectation that does not hold says of its buffer. */
export interface Mismatch {
  message: string;
  text: string; // the largest errors
  count: number; // of elements that differ; 0 where size or type are others
  expected: ShownArray | undefined;
  differs: Uint8Array | undefined; // a bit for each element
}

export interface ShownBuffer {
  arg: number | string;
  name: string;
  title: string;
  typeName: string;
  group: Group;
  changed: boolean;
  image: ImageArgument | null;
  row: number | undefined; // the length of a row, as the kernel indexes it
  array: ShownArray | undefined;
  problem: string; // why there is no array
  wrong: Mismatch[];
}

export function buffersOf(report: Report): ShownBuffer[] {
  const failed = (report.expectations ?? []).filter((expectation) => !expectation.ok);
  const shown = (report.buffers ?? []).map((buffer): ShownBuffer => {
    const wrong = failed.filter((expectation) => expectation.arg === buffer.arg).map(mismatchOf);
    const { arg, name, title, changed, image, row } = buffer;
    const group = wrong.length > 0 ? 'wrong' : buffer.written ? 'output' : 'input';
    return { arg, name, title, typeName: buffer.dtype, group, changed, image, row, wrong, ...held(buffer) };
  });
  return ORDER.flatMap((group) => shown.filter((buffer) => buffer.group === group));
}

export function mismatchOf(expectation: Expectation): Mismatch {
  const { differences, expected } = expectation;
  return {
    message: expectation.message,
    text: differences?.text ?? '',
    count: differences?.count ?? 0,
    expected: expected && held(expected).array,
    differs: differences?.elements === undefined ? undefined : new Uint8Array(Buffer.from(differences.elements, 'base64')),
  };
}

export function held(values: Values): { array: ShownArray | undefined; problem: string } {
  if (values.data === undefined) {
    return { array: undefined, problem: 'there are too many values to be shown' };
  }
  try {
    return { array: arrayOf(values.dtype, values.shape, Buffer.from(values.data, 'base64')), problem: '' };
  } catch (error) {
    return { array: undefined, problem: error instanceof ArrayError ? error.message : String(error) };
  }
}

/** The report without what its buffers hold: that needs not go to the page twice. */
export function withoutData(report: Report): Report {
  const buffers = report.buffers?.map(({ data: _, ...buffer }) => buffer);
  const expectations = report.expectations?.map(({ expected: _, differences, ...expectation }): Expectation => {
    const { elements: __, ...said } = differences ?? {};
    return differences ? { ...expectation, differences: said as Differences } : expectation;
  });
  return { ...report, ...(buffers && { buffers }), ...(expectations && { expectations }) };
}
