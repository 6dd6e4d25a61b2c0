// Arrays in NumPy's file format (versions 1 to 3): the header, and single values read from the bytes when they are shown.

export interface NpyArray {
  dtype: string; // letter and size in bytes: f4, i8, u1, b1
  shape: number[];
  bytes: Uint8Array; // little endian, last index fastest
}

export class NpyError extends Error {}

const READABLE = /^([<|=])?([fiub])([1248])$/;

export function parseNpy(file: Uint8Array): NpyArray {
  if (file.length < 10 || String.fromCharCode(...file.subarray(1, 6)) !== 'NUMPY' || file[0] !== 0x93) {
    throw new NpyError('this is not a .npy file');
  }
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const long = file[6]! >= 2;
  const start = long ? 12 : 10;
  const end = start + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder('latin1').decode(file.subarray(start, end));
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(header)?.[1] ?? '';
  const dims = /'shape'\s*:\s*\(([^)]*)\)/.exec(header)?.[1];
  const known = READABLE.exec(descr);
  if (known === null || dims === undefined || /'fortran_order'\s*:\s*True/.test(header)) {
    throw new NpyError(`arrays of this kind are not shown: ${header.trim()}`);
  }
  const shape = dims.split(',').filter((d) => d.trim() !== '').map(Number);
  const array = { dtype: known[2]! + known[3]!, shape, bytes: new Uint8Array(file.subarray(end)) }; // a plain array: views get no Buffer
  if (array.bytes.length !== size(array) * Number(known[3])) {
    throw new NpyError('the file has another length than its header says');
  }
  return array;
}

export function size(array: { shape: number[] }): number {
  return array.shape.reduce((product, n) => product * n, 1);
}

export type Reader = (index: number) => number | bigint;

/** A function that gives the value at a flat index. */
export function reader(array: NpyArray): Reader {
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
export function show(array: NpyArray, read: Reader, index: number, format: Format): string {
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
  const digits = { f2: 5, f4: 9, f8: 17 }[array.dtype];
  if (format === 'scientific') {
    return digits === undefined ? value.toExponential() : value.toExponential(digits - 1);
  }
  if (digits === undefined || Number.isInteger(value)) {
    return Object.is(value, -0) ? '-0' : String(value);
  }
  // The shortest text that reads back as the same single.
  for (let n = 1; array.dtype === 'f4' && n <= digits; n++) {
    const text = value.toPrecision(n);
    if (Math.fround(Number(text)) === value) {
      return String(Number(text));
    }
  }
  return String(array.dtype === 'f2' ? Number(value.toPrecision(digits)) : value);
}
