// One buffer: a table that shows one page of rows at a time, or an image; the number format is chosen above it.

import type { ShownBuffer } from '../run/panel.ts';
import { reader, show, size, type Format, type ShownArray } from '../run/array.ts';
import { button, element, fill, select } from './dom.ts';
import { imageShape, imageView } from './image.ts';

const FORMATS: readonly Format[] = ['decimal', 'scientific', 'hex', 'binary'];
const VIEWS = ['table', 'image'] as const;
const PAGE_ROWS = 64;
const COLUMNS = 8;
const MOST_COLUMNS = 64;

export function bufferView(buffer: ShownBuffer): HTMLElement {
  const title = buffer.name !== '' && buffer.name !== String(buffer.arg) ? `${buffer.arg} (${buffer.name})` : `${buffer.arg}`;
  const { array } = buffer;
  if (array === undefined) {
    return element('article', '', element('h3', '', title), element('p', 'bad', buffer.problem));
  }
  const body = element('div', 'buffer');
  let format: Format = 'decimal';
  let view: (typeof VIEWS)[number] = imageShape(array) === undefined ? 'table' : 'image';
  let columns = columnsOf(array);
  const draw = (): void => {
    const image = view === 'image' ? imageView(array, imageShape(array) ?? { height: Math.ceil(size(array) / columns), width: columns, channels: 1 }) : undefined;
    fill(body, image ?? table(array, columns, format));
  };
  const width = document.createElement('input');
  Object.assign(width, { type: 'number', min: '1', value: String(columns), title: 'Elements in a row' });
  width.addEventListener('change', () => {
    columns = Math.max(1, Math.min(size(array), Math.floor(Number(width.value)) || COLUMNS));
    draw();
  });
  const bar = element(
    'div',
    'bar',
    element('h3', '', title),
    element('span', 'facts', `${buffer.typeName} ${array.shape.join('×') || 'scalar'}`),
    select(VIEWS, view, 'Table or image', (value) => ((view = value), draw())),
    select(FORMATS, format, 'Number format', (value) => ((format = value), draw())),
    imageShape(array) === undefined ? element('label', '', 'row of ', width) : undefined,
  );
  draw();
  return element('article', '', bar, body);
}

/** A row of the table is the last dimension of a matrix; longer lists are cut into rows. */
function columnsOf(array: ShownArray): number {
  const last = array.shape.at(-1) ?? 1;
  return array.shape.length >= 2 ? last : Math.max(1, Math.min(COLUMNS, last));
}

function table(array: ShownArray, columns: number, format: Format): HTMLElement {
  const read = reader(array);
  const total = size(array);
  const rows = Math.ceil(total / columns);
  const shownColumns = Math.min(columns, MOST_COLUMNS);
  const body = document.createElement('tbody');
  const place = element('span', 'facts');
  let first = 0;
  const draw = (): void => {
    const last = Math.min(rows, first + PAGE_ROWS);
    body.replaceChildren();
    for (let row = first; row < last; row++) {
      const line = body.insertRow();
      line.append(element('th', '', label(array, row * columns)));
      for (let column = 0; column < shownColumns; column++) {
        const index = row * columns + column;
        line.append(element('td', '', index < total ? show(array, read, index, format) : ''));
      }
    }
    place.textContent = `rows ${first} to ${Math.max(first, last - 1)} of ${rows}`;
  };
  const turn = (by: number): void => {
    first = Math.max(0, Math.min(Math.floor((rows - 1) / PAGE_ROWS) * PAGE_ROWS, first + by * PAGE_ROWS));
    draw();
  };
  draw();
  const head = element('tr', '', element('th', '', ''), ...Array.from({ length: shownColumns }, (_, n) => element('th', '', `${n}`)));
  const pages =
    rows > PAGE_ROWS
      ? element('div', 'bar', button('‹', 'Earlier rows', () => turn(-1)), place, button('›', 'Later rows', () => turn(1)))
      : undefined;
  const cut = columns > MOST_COLUMNS ? element('p', 'facts', `the first ${MOST_COLUMNS} of ${columns} columns`) : undefined;
  return element('div', '', element('div', 'scroll', element('table', '', element('thead', '', head), body)), pages, cut);
}

/** The index of a row's first element: flat for lists, all dimensions but the last for matrices. */
function label(array: ShownArray, index: number): string {
  if (array.shape.length < 2) {
    return String(index);
  }
  const dims = array.shape.slice(0, -1);
  let rest = Math.floor(index / (array.shape.at(-1) || 1));
  const parts = dims.reverse().map((dim) => {
    const part = rest % dim;
    rest = Math.floor(rest / dim);
    return part;
  });
  return parts.reverse().join(',');
}
