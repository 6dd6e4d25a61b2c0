// What is entered in a form, as a launch file's values. Knows no page: the fields are plain texts.

export const DTYPES = ['float32', 'int32', 'uint32', 'float16', 'float64', 'int8', 'uint8', 'int16', 'uint16', 'int64', 'uint64'] as const;
export const FILLS = ['zeros', 'ones', 'arange', 'cycle', 'random', 'values'] as const;

export class EntryError extends Error {}

/** One number: decimal, hexadecimal, or a word that floats have. */
export function number(text: string, what: string): number {
  const word = text.trim();
  const value = /^[+-]?(0x[\da-f]+|\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)$/i.test(word) ? Number(word.replace(/^[+-]/, '')) : NaN;
  if (!Number.isFinite(value)) {
    throw new EntryError(word === '' ? `${what}: a number is missing` : `${what}: '${word}' is no number`);
  }
  return word.startsWith('-') ? -value : value;
}

/** Numbers between commas or spaces. */
export function numbers(text: string, what: string): number[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  if (words.length === 0) {
    throw new EntryError(`${what}: numbers are missing`);
  }
  return words.map((word) => number(word, what));
}

/** Three sizes from what may be fewer. */
export function sizes(text: string, what: string): number[] {
  const found = text.split(/[\s,;x×]+/).filter((word) => word !== '').map((word) => number(word, what));
  if (found.length < 1 || found.length > 3 || found.some((n) => !Number.isInteger(n) || n < 1)) {
    throw new EntryError(`${what}: one to three whole numbers from 1 up are wanted, such as 4 or 8, 8, 1`);
  }
  return [...found, 1, 1].slice(0, 3);
}

export interface BufferFields {
  dtype: string;
  shape: string; // 1024, or 20x36x4
  fill: string;
  values: string;
}

export function buffer(fields: BufferFields, what: string): Record<string, unknown> {
  if (fields.fill === 'values') {
    return { dtype: fields.dtype, values: numbers(fields.values, what) };
  }
  const shape = fields.shape.split(/[\s,;x×]+/).filter((word) => word !== '').map((word) => number(word, what));
  if (shape.length === 0 || shape.some((n) => !Number.isInteger(n) || n < 0)) {
    throw new EntryError(`${what}: a length is wanted, such as 1024, or 20x36x4`);
  }
  return { dtype: fields.dtype, shape, init: fields.fill === 'random' ? { random: 1 } : fields.fill };
}

export function value(dtype: string, text: string, what: string): Record<string, unknown> {
  const found = numbers(text, what);
  return { value: found.length === 1 ? found[0] : found, dtype };
}
