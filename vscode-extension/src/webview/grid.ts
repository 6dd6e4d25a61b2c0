// A table of which one page of rows and columns is drawn at a time, however large it is.

import { button, element } from './dom.ts';

export interface Cells {
  title: string; // what the table is of, for those who do not see it
  rows: number;
  columns: number;
  head(column: number): string;
  label(row: number): string;
  fill(cell: HTMLElement, row: number, column: number): void;
}

export interface Grid {
  element: HTMLElement;
  /** Turns to a cell and gives it the focus. */
  goTo(row: number, column: number): void;
}

const PAGE_ROWS = 64;
const PAGE_COLUMNS = 64;

export function grid(cells: Cells): Grid {
  const body = document.createElement('tbody');
  const head = document.createElement('thead');
  const table = element('table', '', head, body);
  const scroll = element('div', 'scroll', table);
  Object.assign(scroll, { tabIndex: 0, role: 'region', ariaLabel: cells.title }); // the arrow keys scroll it
  let [firstRow, firstColumn] = [0, 0];
  const pages = [
    pager('row', cells.rows, PAGE_ROWS, (first) => ((firstRow = first), draw())),
    pager('column', cells.columns, PAGE_COLUMNS, (first) => ((firstColumn = first), draw())),
  ] as const;

  const draw = (): void => {
    const lastRow = Math.min(cells.rows, firstRow + PAGE_ROWS);
    const columns = Array.from({ length: Math.min(cells.columns - firstColumn, PAGE_COLUMNS) }, (_, n) => firstColumn + n);
    head.replaceChildren(element('tr', '', element('td'), ...columns.map((column) => heading('col', cells.head(column)))));
    body.replaceChildren();
    for (let row = firstRow; row < lastRow; row++) {
      const line = body.insertRow();
      line.append(heading('row', cells.label(row)));
      for (const column of columns) {
        cells.fill(line.insertCell(), row, column);
      }
    }
  };

  draw();
  const bars = pages.flatMap((page) => (page.element === undefined ? [] : [page.element]));
  return {
    element: element('div', '', scroll, bars.length === 0 ? undefined : element('div', 'bar', ...bars)),
    goTo(row, column) {
      pages[0].turnTo(row);
      pages[1].turnTo(column);
      const cell = body.rows[row - firstRow]?.cells[1 + column - firstColumn];
      if (cell !== undefined) {
        cell.tabIndex = -1;
        cell.focus();
        cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    },
  };
}

function heading(scope: 'row' | 'col', text: string): HTMLElement {
  const made = element('th', '', text);
  made.setAttribute('scope', scope);
  return made;
}

interface Pager {
  element: HTMLElement | undefined; // none where one page has all
  turnTo(index: number): void;
}

function pager(what: string, total: number, length: number, show: (first: number) => void): Pager {
  const place = element('span', 'facts');
  let first = 0;
  const turnTo = (index: number): void => {
    const wanted = Math.floor(Math.max(0, Math.min(total - 1, index)) / length) * length;
    const turned = wanted !== first;
    first = wanted;
    place.textContent = `${what}s ${first} to ${Math.max(first, Math.min(total, first + length) - 1)} of ${total}`;
    if (turned) {
      show(first);
    }
  };
  turnTo(0);
  const turn = (text: string, title: string, by: number): HTMLElement => button(text, title, () => turnTo(first + by));
  const bar = element('span', 'pager', turn('‹', `Earlier ${what}s`, -length), place, turn('›', `Later ${what}s`, length));
  return { element: total > length ? bar : undefined, turnTo };
}
