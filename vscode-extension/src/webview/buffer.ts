// One buffer: a table, or an image. Where it is not as expected, its cells say so, and a list has only the differences.

import { bit, indexesOf, place, reader, show, size, type Format, type ShownArray } from '../run/array.ts';
import { differenceText } from '../run/report.ts';
import type { Mismatch, ShownBuffer } from '../run/shown.ts';
import { button, checkbox, element, fill, select } from './dom.ts';
import { grid, type Cells, type Grid } from './grid.ts';
import { askedShape, imageShape, imageView } from './image.ts';

const FORMATS: readonly Format[] = ['decimal', 'scientific', 'hex', 'binary'];
const VIEWS = ['table', 'image'] as const;
const COLUMNS = 8;
const MOST_LISTED = 1_000_000;
const FIRST_DIFFERENCES = 3; // in words, as the command line has them

/** A buffer, once for each expectation that does not hold, else once. */
export function bufferViews(buffer: ShownBuffer): HTMLElement[] {
  return buffer.wrong.length === 0 ? [bufferView(buffer)] : buffer.wrong.map((wrong) => bufferView(buffer, wrong));
}

function bufferView(buffer: ShownBuffer, wrong?: Mismatch): HTMLElement {
  const { array } = buffer;
  const about = wrong && element('p', 'wrong', `${wrong.message.split(':')[0]!}${wrong.text && `; ${wrong.text}`}`);
  if (array === undefined) {
    return element('article', buffer.group, element('h3', '', buffer.title), about, element('p', 'bad', buffer.problem));
  }
  const body = element('div', 'buffer');
  const usual = imageShape(buffer, array);
  let format: Format = 'decimal';
  let view: (typeof VIEWS)[number] = usual !== undefined && wrong === undefined ? 'image' : 'table';
  let only = false;
  let columns = buffer.row ?? columnsOf(array);
  const differences = wrong?.expected && wrong.differs ? { expected: wrong.expected, differs: wrong.differs } : undefined;
  const indexes = differences === undefined ? [] : indexesOf(differences.differs, MOST_LISTED);
  const first = differences && indexes.slice(0, FIRST_DIFFERENCES).map((index) => {
    const [got, expected] = [array, differences.expected].map((values) => show(values, reader(values), index, format));
    return element('li', '', differenceText(place(array.shape, index), got!, expected!));
  });
  let shown: Grid | undefined;
  let next = 0;

  const formats = select(FORMATS, format, 'Number format', (value) => ((format = value), draw()));
  const width = document.createElement('input');
  Object.assign(width, { type: 'number', min: '1', value: String(columns), title: 'Elements in a row' });
  width.addEventListener('change', () => {
    columns = Math.max(1, Math.min(size(array), Math.floor(Number(width.value)) || COLUMNS));
    draw();
  });
  const widths = array.shape.length < 2 ? element('label', '', 'row of ', width) : undefined;
  const forward = button('Next difference', 'Go to the next element that differs', () => {
    const index = indexes[next++ % indexes.length]!;
    shown?.goTo(Math.floor(index / columns), index % columns);
  });
  const onlyBox = checkbox('only differences', (checked) => ((only = checked), draw()));

  const draw = (): void => {
    const image = view === 'image';
    formats.hidden = image;
    onlyBox.hidden = image;
    forward.hidden = image || only;
    if (widths !== undefined) {
      widths.hidden = !image && only;
    }
    next = 0;
    const cells = only && differences ? listCells(buffer.title, array, differences.expected, indexes, format) : tableCells(buffer.title, array, columns, format, differences);
    shown = image ? undefined : grid(cells);
    const legend = differences && !image && !only ? element('p', 'facts', '≠ marks what differs; what was expected stands below it') : undefined;
    const picture = (): HTMLElement => imageView(array, usual ?? askedShape(array, columns), buffer.title);
    fill(body, legend, shown?.element ?? picture(), unlisted(wrong, only ? indexes.length : undefined));
  };

  const bar = element(
    'div',
    'bar',
    element('h3', '', buffer.title),
    element('span', 'facts', facts(buffer, array)),
    select(VIEWS, view, 'Table or image', (value) => ((view = value), draw())),
    formats,
    widths,
    ...(indexes.length === 0 ? [] : [onlyBox, forward]),
  );
  draw();
  const alone = wrong?.expected && differences === undefined ? [element('h4', '', 'expected'), grid(tableCells(`${buffer.title}, expected`, wrong.expected, columnsOf(wrong.expected), 'decimal')).element] : [];
  return element('article', buffer.group, bar, about, first && element('ul', 'first', ...first), body, ...alone);
}

function facts(buffer: ShownBuffer, array: ShownArray): string {
  const what = buffer.group === 'output' && !buffer.changed ? ', written without a change' : '';
  return `${buffer.typeName} ${array.shape.join('×') || 'scalar'}${buffer.row === undefined ? '' : `, rows of ${buffer.row} by its index`}${what}`;
}

function unlisted(wrong: Mismatch | undefined, listed: number | undefined): HTMLElement | undefined {
  const cut = wrong !== undefined && listed !== undefined && listed < wrong.count;
  return cut ? element('p', 'facts', `the first ${listed} of ${wrong.count} differences`) : undefined;
}

/** A row of the table is the last dimension of a matrix; longer lists are cut into rows. */
function columnsOf(array: ShownArray): number {
  const last = array.shape.at(-1) ?? 1;
  return Math.max(1, array.shape.length >= 2 ? last : Math.min(COLUMNS, last));
}

function tableCells(title: string, array: ShownArray, columns: number, format: Format, wrong?: { expected: ShownArray; differs: Uint8Array }): Cells {
  const read = reader(array);
  const total = size(array);
  const meant = wrong && reader(wrong.expected);
  return {
    title,
    rows: Math.ceil(total / columns),
    columns,
    head: String,
    label: (row) => (array.shape.length < 2 ? String(row * columns) : place(array.shape, row * columns).slice(0, -1).join(',')),
    fill(cell, row, column) {
      const index = row * columns + column;
      if (index >= total) {
        return;
      }
      const got = show(array, read, index, format);
      if (wrong === undefined || meant === undefined || !bit(wrong.differs, index)) {
        cell.textContent = got;
        return;
      }
      const expected = show(wrong.expected, meant, index, format);
      cell.className = 'differs';
      cell.title = differenceText(place(array.shape, index), got, expected);
      cell.append(element('span', 'mark', '≠'), ` ${got}`, element('div', 'expected', expected));
    },
  };
}

/** A line for each element that differs. */
function listCells(title: string, got: ShownArray, expected: ShownArray, indexes: number[], format: Format): Cells {
  const [read, meant] = [reader(got), reader(expected)];
  const cells = [
    (index: number) => show(got, read, index, format),
    (index: number) => show(expected, meant, index, format),
    (index: number) => errorText(read(index), meant(index)),
  ];
  return {
    title: `${title}, differences`,
    rows: indexes.length,
    columns: cells.length,
    head: (column) => ['got', 'expected', 'error'][column]!,
    label: (row) => `[${place(got.shape, indexes[row]!).join(', ')}]`,
    fill: (cell, row, column) => (cell.textContent = cells[column]!(indexes[row]!)),
  };
}

function errorText(got: number | bigint, expected: number | bigint): string {
  if (typeof got === 'bigint' || typeof expected === 'bigint') {
    return String(BigInt(got) - BigInt(expected));
  }
  const error = got - expected;
  return Number.isInteger(error) ? String(error) : String(Number(error.toPrecision(4)));
}
