// The page beside a text: its source, where there is one, and its Gen, as two lists in step with each other and with the
// cursor of the editor. Lines have the classes of the page that `gen --html` writes. Long lists are laid out only where seen.

import { livingIn, rowOf, type Columns, type ColumnLine, type Finding, type ToMachinePage } from '../views/machineparts.ts';
import { button, element, fill, host, listen } from './dom.ts';

const BLOCK = 200;
const PAGE = 20;

interface Row {
  line: ColumnLine;
  node: HTMLElement;
  told: string; // what lives in its registers
}

interface Column {
  list: HTMLElement;
  rows: Row[];
  isSource: boolean;
}

let columns: Column[] = [];
let ties = new Map<number, number>(); // the line of the source by that of the text
let chosen: { column: Column; row: Row } | undefined;
let cursor: number | undefined;
let names = 0;

const bar = element('div', 'bar');
const notice = element('div', 'notice');
const place = element('div', 'columns');
const details = element('p', 'facts details');
notice.setAttribute('role', 'status');
details.setAttribute('aria-live', 'polite');

const send = (kind: 'again' | 'settings' | 'save') => (): void => host.postMessage({ kind });

// ---- building ----

function part([kind, text]: [string, string], living: Record<string, string>): Node {
  if (kind === '') {
    return document.createTextNode(text);
  }
  const made = element('span', kind, text);
  const told = kind === 'reg' ? living[rowOf(text) ?? ''] : undefined;
  if (told !== undefined) {
    made.title = told;
  }
  return made;
}

function row(line: ColumnLine, living: Record<string, string>): Row {
  const hue = line.hue === undefined ? '' : ` h${line.hue}`;
  const node = element('div', `line${hue}${line.kind === undefined ? '' : ` ${line.kind}`}`, element('i', '', line.number));
  if (line.bar !== undefined) {
    const bar = element('b', 'issue', String(line.bar.figure));
    bar.title = line.bar.title;
    bar.style.setProperty('--share', `${line.bar.percent}%`);
    node.append(bar);
  }
  node.append(...line.parts.map((one) => part(one, living)));
  node.setAttribute('role', 'option');
  if (line.title !== undefined) {
    node.title = line.title;
  }
  return { line, node, told: livingIn(line, living) };
}

function column(title: string, isSource: boolean, blocks: { head: string; living: Record<string, string>; lines: ColumnLine[] }[]): Column {
  const list = element('div', 'listing');
  list.tabIndex = 0;
  list.setAttribute('role', 'listbox');
  list.ariaLabel = title;
  const made: Column = { list, rows: [], isSource };
  for (const { head, living, lines } of blocks) {
    if (head !== '') {
      list.append(element('div', 'blockhead', head));
    }
    for (let first = 0; first < lines.length; first += BLOCK) {
      const rows = lines.slice(first, first + BLOCK).map((line) => row(line, living));
      const block = element('div', 'lines', ...rows.map(({ node }) => node));
      block.style.setProperty('contain-intrinsic-height', `${rows.length * 18}px`);
      list.append(block);
      made.rows.push(...rows);
    }
  }
  const byNode = new Map(made.rows.map((one) => [one.node, one]));
  const under = (event: Event): Row | undefined => byNode.get((event.target as Element).closest<HTMLElement>('.line')!);
  list.addEventListener('click', (event) => {
    const at = under(event);
    if (at !== undefined) {
      choose(made, at);
    }
  });
  list.addEventListener('dblclick', open);
  list.addEventListener('keydown', (event) => press(made, event));
  return made;
}

function build(shown: Columns): void {
  const { source, gen } = shown;
  const places = new Map(columns.map(({ isSource, list }) => [isSource, [list.scrollTop, list.scrollLeft, document.activeElement === list] as const]));
  ties = new Map(Object.entries(source?.ties ?? {}).map(([v, s]) => [Number(v), s]));
  columns = [
    ...(source === null ? [] : [column(source.name, true, [{ head: '', living: {}, lines: source.lines }])]),
    column('Gen', false, gen),
  ];
  fill(place, ...columns.map(({ list }) => element('div', 'column', element('h2', '', list.ariaLabel!), list)));
  place.classList.toggle('two', columns.length === 2);
  for (const { isSource, list } of columns) {
    const [top, left, hadFocus] = places.get(isSource) ?? [0, 0, false];
    list.scrollTo(left, top);
    if (hadFocus) {
      list.focus();
    }
  }
  chosen = undefined;
}

// ---- what belongs together ----

function intoView(list: HTMLElement, node: HTMLElement): void {
  const [outer, inner] = [list.getBoundingClientRect(), node.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    list.scrollTop += inner.top - outer.top - outer.height / 3;
  }
}

/** Marks the partners of a line of the text, or of the source, and shows the first in each list but `but`. */
function mark(v: number | undefined, s: number | undefined, but?: Column): void {
  for (const one of place.querySelectorAll('.here, .there')) {
    one.classList.remove('here', 'there');
    one.removeAttribute('aria-selected');
  }
  const source = s ?? (v === undefined ? undefined : ties.get(v));
  for (const one of columns) {
    const isPartner = ({ line }: Row): boolean =>
      one.isSource ? source !== undefined && line.s === source : v === undefined ? s !== undefined && line.s === s : line.v === v;
    const partners = one.rows.filter(isPartner);
    partners.forEach(({ node }) => node.classList.add('there'));
    if (partners.length > 0 && one !== but) {
      intoView(one.list, partners[0]!.node);
    }
  }
}

/** The lines of the text that belong to a line of the source. */
function linesOf(s: number): number[] {
  return [...ties].filter(([, source]) => source === s).map(([v]) => v).sort((a, b) => a - b);
}

function choose(at: Column, one: Row): void {
  const { v, s } = one.line;
  mark(at.isSource ? undefined : v, at.isSource ? s : undefined, at);
  one.node.classList.add('here');
  one.node.setAttribute('aria-selected', 'true');
  one.node.id ||= `line${++names}`;
  at.list.setAttribute('aria-activedescendant', one.node.id);
  intoView(at.list, one.node);
  chosen = { column: at, row: one };
  details.textContent = one.told;
  host.postMessage({ kind: 'chosen', lines: at.isSource ? linesOf(s ?? 0) : v === undefined ? [] : [v] });
}

function open(): void {
  if (chosen !== undefined) {
    const { column: at, row: { line } } = chosen;
    host.postMessage(at.isSource ? { kind: 'open', s: line.s } : { kind: 'open', v: line.v });
  }
}

function press(at: Column, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || at.rows.length === 0) {
    return;
  }
  const here = at.rows.findIndex(({ node }) => node.classList.contains('here'));
  const first = Math.max(0, at.rows.findIndex(({ node }) => node.classList.contains('there')));
  const from = here < 0 ? first : here;
  const steps: Record<string, number> = {
    ArrowDown: here < 0 ? from : from + 1, ArrowUp: from - 1, PageDown: from + PAGE, PageUp: from - PAGE, Home: 0, End: at.rows.length - 1,
  };
  const to = steps[event.key];
  if (to !== undefined) {
    event.preventDefault();
    choose(at, at.rows[Math.max(0, Math.min(at.rows.length - 1, to))]!);
  } else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
    event.preventDefault();
    columns[columns.indexOf(at) + (event.key === 'ArrowRight' ? 1 : -1)]?.list.focus();
  } else if (event.key === 'Enter') {
    event.preventDefault();
    if (here < 0) {
      choose(at, at.rows[from]!);
    }
    open();
  }
}

// ---- what is said ----

function finding({ line, severity, code, message }: Finding): HTMLElement {
  const link = button(`line ${line}`, 'Go to the line of the text', () => host.postMessage({ kind: 'open', v: line }));
  link.className = 'link';
  return element('li', severity, link, ` ${severity} ${code}: ${message}`);
}

function say({ working, stale, problem, advice, settings, findings }: Extract<ToMachinePage, { kind: 'state' }>): void {
  place.classList.toggle('stale', stale && columns.length > 0);
  bar.querySelector('.working')!.textContent = working ? 'the finalizer is at work…' : '';
  const kept = columns.length > 0 ? ' What is shown is the last result.' : '';
  const why = problem === '' ? undefined : element('p', 'bad', `No machine code: ${problem}`);
  const open = settings ? button('Open Settings', 'The settings of the finalizer', send('settings')) : undefined;
  const what = problem === '' ? undefined : element('p', '', `${advice}${kept} `, button('Try Again', 'Call the finalizer again', send('again')), ' ', open);
  // The one that is the reason is said already.
  const others = findings.filter(({ line, message }) => problem !== `line ${line}: ${message}`);
  fill(notice, why, what, others.length === 0 ? undefined : element('ul', 'findings', ...others.map(finding)));
}

listen<ToMachinePage>((main, message) => {
  if (main.childElementCount === 0) {
    fill(main, bar, notice, place, details);
    fill(bar, element('span', 'facts working'));
  }
  if (message.kind === 'result') {
    const save = button('Save as Page…', 'Write source, vISA and Gen as one HTML page', send('save'));
    fill(bar, element('h3', '', message.name), element('span', 'facts', message.platform), message.columns && save, element('span', 'facts working'));
    if (message.columns !== undefined) {
      build(message.columns);
    } else {
      columns = [];
      fill(place);
    }
    mark(cursor, undefined);
  } else if (message.kind === 'state') {
    say(message);
  } else {
    cursor = message.v;
    chosen = undefined;
    details.textContent = '';
    mark(cursor, undefined);
  }
});
