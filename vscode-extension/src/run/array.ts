// Arrays as a run hands them over: single values are read from the bytes when they are shown.

export interface ShownArray {
  dtype: string; // letter and size in bytes: f4, i8, u1, b1
  shape: number[];
  bytes: Uint8Array; // little endian, last index fastest
}

export class ArrayError extends Error {}

const KNOWN = /^(?:(float|int|uint)(8|16|32|64)|(bool))$/;

/** The array that a run answers with: its NumPy type, its shape, its bytes. */
export function arrayOf(name: string, shape: number[], bytes: Uint8Array): ShownArray {
  const [found, number, bits] = KNOWN.exec(name) ?? [];
  if (found === undefined) {
    throw new ArrayError(`arrays of ${name} are not shown`);
  }
  const width = number === undefined ? 1 : Number(bits) / 8;
  const array = { dtype: `${found[0]}${width}`, shape, bytes: new Uint8Array(bytes) }; // a plain array: views get no Buffer
  if (array.bytes.length !== size(array) * width) {
    throw new ArrayError('the values have another length than their shape says');
  }
  return array;
}

export function size(array: { shape: number[] }): number {
  return array.shape.reduce((product, n) => product * n, 1);
}

export type Reader = (index: number) => number | bigint;

/** A function that gives the value at a flat index. */
export function reader(array: ShownArray): Reader {
  const view = new DataView(array.bytes.buffer, array.bytes.byteOffset, array.bytes.byteLength);
  switch (array.dtype) {
    case 'f2':
      return (i) => half(view.getUint16(2 * i, true));
    case 'f4':
      return (i) => view.getFloat32(4 * i, true);
    case 'f8':
      return (i) => view.getFloat64(8 * i, true);
    case 'i1':
      return (i) => view.getInt8(i);
    case 'i2':
      return (i) => view.getInt16(2 * i, true);
    case 'i4':
      return (i) => view.getInt32(4 * i, true);
    case 'i8':
      return (i) => view.getBigInt64(8 * i, true);
    case 'u2':
      return (i) => view.getUint16(2 * i, true);
    case 'u4':
      return (i) => view.getUint32(4 * i, true);
    case 'u8':
      return (i) => view.getBigUint64(8 * i, true);
    default:
      return (i) => view.getUint8(i);
  }
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) {
    return fraction === 0 ? sign * Infinity : NaN;
  }
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

export type Format = 'decimal' | 'scientific' | 'hex' | 'binary';

/** The value at a flat index as text. */
export function show(array: ShownArray, read: Reader, index: number, format: Format): string {
  const bytes = Number(array.dtype.slice(1));
  if (format === 'hex' || format === 'binary') {
    const raw = [...array.bytes.subarray(index * bytes, (index + 1) * bytes)].reverse();
    const [base, width] = format === 'hex' ? [16, 2] : [2, 8];
    return (format === 'hex' ? '0x' : '') + raw.map((b) => b.toString(base).padStart(width, '0')).join(format === 'hex' ? '' : ' ');
  }
  const value = read(index);
  if (typeof value === 'bigint') {
    return format === 'scientific' ? Number(value).toExponential() : value.toString();
  }
  if (!Number.isFinite(value)) {
    return String(value);
  }
  const type = FLOATS[array.dtype];
  if (format === 'scientific') {
    return type === undefined ? value.toExponential() : value.toExponential(type.digits - 1);
  }
  return Object.is(value, -0) ? '-0' : String(type === undefined ? value : shortest(value, type));
}

interface FloatType {
  digits: number; // that always tell one value from the next
  round: (value: number) => number; // to the nearest value of the type
}

const FLOATS: Record<string, FloatType> = {
  f2: { digits: 5, round: roundToHalf },
  f4: { digits: 9, round: Math.fround },
  f8: { digits: 17, round: (value) => value },
};

/** The number with the fewest digits that reads back as the same value of the type. */
function shortest(value: number, type: FloatType): number {
  for (let n = 1; n < type.digits; n++) {
    const found = Number(value.toPrecision(n));
    if (type.round(found) === value) {
      return found;
    }
  }
  return value;
}

/** The half that is nearest to a number, of two the even one. */
export function roundToHalf(value: number): number {
  if (!Number.isFinite(value)) {
    return value;
  }
  const size = Math.abs(value);
  let step = 2 ** -24; // between the values around: that of subnormals, and of those up to 2 ** -13
  while (step * 2048 <= size) {
    step *= 2;
  }
  const steps = Math.floor(size / step);
  const rest = size / step - steps;
  const rounded = (steps + (rest > 0.5 || (rest === 0.5 && steps % 2 === 1) ? 1 : 0)) * step;
  return Math.sign(value) * (rounded >= 65520 ? Infinity : rounded);
}

/** One of many bits, the first in the lowest bit of the first byte. */
export function bit(bits: Uint8Array, index: number): boolean {
  return ((bits[index >> 3]! >> (index & 7)) & 1) === 1;
}

/** The indexes at which bits are set, at most so many. */
export function indexesOf(bits: Uint8Array, most: number): number[] {
  const found: number[] = [];
  for (let byte = 0; byte < bits.length && found.length < most; byte++) {
    for (let n = 0; bits[byte] !== 0 && n < 8 && found.length < most; n++) {
      if (bit(bits, 8 * byte + n)) {
        found.push(8 * byte + n);
      }
    }
  }
  return found;
}

/** The indexes of an element in each dimension. */
export function place(shape: number[], index: number): number[] {
  const found: number[] = [];
  for (const length of [...shape].reverse()) {
    found.unshift(index % length);
    index = Math.floor(index / length);
  }
  return found;
}
