// A buffer as an image: bytes as they are, other numbers stretched from their least to their greatest value.

import type { ShownBuffer } from '../run/shown.ts';
import { reader, size, type ShownArray } from '../run/array.ts';
import { element } from './dom.ts';

export interface ImageShape {
  height: number;
  width: number;
  channels: number;
}

const MOST_PIXELS = 4096 * 4096;

/** How a buffer is an image by itself: an image argument, or rows of pixels of three or four bytes. */
export function imageShape(buffer: ShownBuffer, array: ShownArray): ImageShape | undefined {
  if (buffer.image !== null) {
    const { width, height, depth, channels } = buffer.image; // layers stand one below the other
    return { height: height * depth, width, channels };
  }
  const [height = 0, width = 0, channels = 0, ...more] = array.shape;
  const pixels = array.dtype === 'u1' && more.length === 0 && height > 1 && width > 1 && (channels === 3 || channels === 4);
  return pixels ? { height, width, channels } : undefined;
}

/** How an array is an image where somebody asks for one. */
export function askedShape(array: ShownArray, columns: number): ImageShape {
  const [height = 0, width = 0, channels = 0, ...more] = array.shape;
  const channelled = more.length === 0 && channels >= 1 && channels <= 4;
  return channelled ? { height, width, channels } : { height: Math.ceil(size(array) / columns), width: columns, channels: 1 };
}

export function imageView(array: ShownArray, shape: ImageShape, title: string): HTMLElement {
  const { height, width, channels } = shape;
  if (height * width > MOST_PIXELS || height * width === 0) {
    return element('p', 'facts', `${width}×${height} pixels cannot be shown; at most ${MOST_PIXELS} can`);
  }
  const read = reader(array);
  const total = size(array);
  const [least, greatest] = range(array, read, total);
  const scale = greatest > least ? 255 / (greatest - least) : 0;
  const level = (index: number): number => (index < total ? (Number(read(index)) - least) * scale : 0);
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height, role: 'img', ariaLabel: `${title} as an image` });
  const context = canvas.getContext('2d')!;
  const pixels = context.createImageData(width, height);
  for (let p = 0; p < width * height; p++) {
    const at = p * channels;
    const grey = level(at);
    pixels.data[4 * p] = grey;
    pixels.data[4 * p + 1] = channels >= 3 ? level(at + 1) : grey;
    pixels.data[4 * p + 2] = channels >= 3 ? level(at + 2) : grey;
    pixels.data[4 * p + 3] = channels === 4 && array.dtype === 'u1' && hasAlpha(array) ? level(at + 3) : 255;
  }
  context.putImageData(pixels, 0, 0);
  const zoom = Math.max(1, Math.min(16, Math.floor(420 / Math.max(width, height))));
  canvas.style.width = `${width * zoom}px`;
  const note = element('div', 'facts', `${width}×${height}, ${channels === 1 ? 'grey' : `${channels} channels`}, values ${least} to ${greatest}`);
  const rest = note.textContent;
  canvas.addEventListener('mousemove', (event) => {
    const x = Math.min(width - 1, Math.floor((event.offsetX * width) / canvas.clientWidth));
    const y = Math.min(height - 1, Math.floor((event.offsetY * height) / canvas.clientHeight));
    const at = (y * width + x) * channels;
    const values = Array.from({ length: channels }, (_, c) => String(at + c < total ? read(at + c) : '')).join(', ');
    note.textContent = `row ${y}, column ${x}: ${values}`;
  });
  canvas.addEventListener('mouseleave', () => (note.textContent = rest));
  return element('div', 'image', canvas, note);
}

/** Compilers' test images often leave the fourth channel at nought: that is no picture of nothing. */
function hasAlpha(array: ShownArray): boolean {
  for (let n = 3; n < array.bytes.length; n += 4) {
    if (array.bytes[n] !== 0) {
      return true;
    }
  }
  return false;
}

function range(array: ShownArray, read: (index: number) => number | bigint, total: number): [number, number] {
  if (array.dtype === 'u1') {
    return [0, 255];
  }
  let [least, greatest] = [Infinity, -Infinity];
  for (let n = 0; n < total; n++) {
    const value = Number(read(n));
    if (Number.isFinite(value)) {
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
  }
  return least <= greatest ? [least, greatest] : [0, 0];
}
