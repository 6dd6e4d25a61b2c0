// The page of the Lanes view: a bar, the table of variables against lanes, and beside it the threads of the group. Bar and
// scroll positions stay as they are from stop to stop.

import { FORMATS, short, shortName, type LaneRow } from '../debug/answers.ts';
import type { ShownLanes } from '../debug/lanes.ts';
import { button, checkbox, element, fill, host, listen, select } from './dom.ts';

const MOST_ROWS = 400; // drawn at once; the filter reaches the others

let shown: ShownLanes | null = null;
let wanted = '';
let changedOnly = false;

const facts = element('span', 'facts');
const table = element('table');
const note = element('p', 'facts');
const scroll = element('div', 'scroll', table, note);
const threads = element('ul');
const group = element('h3');
const aside = element('aside', '', group, threads);
Object.assign(scroll, { tabIndex: 0, role: 'region', ariaLabel: 'Variables against lanes' });

function bar(): HTMLElement {
  const filter = document.createElement('input');
  Object.assign(filter, { type: 'search', placeholder: 'Filter', ariaLabel: 'Filter variables by name' });
  filter.addEventListener('input', () => {
    wanted = filter.value.trim().toLowerCase();
    draw();
  });
  const format = select(FORMATS, 'declared', 'How numbers are shown', (value) => host.postMessage({ kind: 'format', format: value }));
  const only = checkbox('changed only', (checked) => {
    changedOnly = checked;
    draw();
  });
  return element('div', 'bar', filter, only, format, facts);
}

/** A row of cells, one for each lane; behind the last element of a short variable they are empty. */
function line(name: HTMLElement, values: string[], classes: (lane: number) => string): HTMLElement {
  const { active } = shown!.answer;
  name.setAttribute('scope', 'row');
  const cells = active.map((on, lane) => {
    const cell = element('td', `${classes(lane)}${on ? '' : ' inactive'}`.trim(), short(values[lane] ?? ''));
    const words = [values[lane] ?? '', on ? '' : 'inactive lane', cell.classList.contains('changed') ? 'changed' : ''].filter((word) => word !== '');
    cell.title = words.join(', ');
    return cell;
  });
  return element('tr', '', name, ...cells);
}

function heading(name: string, type: string): HTMLElement {
  return element('th', '', element('span', 'name', name), ' ', element('span', 'type', type));
}

function variable(row: LaneRow): HTMLElement {
  const { region } = shown!.answer;
  const touched = new Set(region?.name === row.name ? region.elements : []);
  const classes = (lane: number): string => `${row.changed[lane] ? 'changed' : ''}${touched.has(lane) ? ' outlined' : ''}`;
  const made = line(heading(row.name, row.kind === 'variable' ? row.type : row.kind), row.values, classes);
  made.classList.toggle('touched', touched.size > 0);
  return made;
}

function draw(): void {
  const stop = shown;
  if (stop === null) {
    return;
  }
  const { answer, operand } = stop;
  const rows = answer.rows.filter((row) => row.name.toLowerCase().includes(wanted) && (!changedOnly || row.changed.includes(true)));
  const lanes = answer.active.map((on, lane) => {
    const head = element('th', on ? '' : 'inactive', String(lane));
    head.setAttribute('scope', 'col');
    head.title = on ? `lane ${lane}` : `lane ${lane}, inactive`;
    return head;
  });
  const head = element('thead', '', element('tr', '', element('th', '', 'lane'), ...lanes));
  if (operand !== undefined) {
    const made = line(heading(operand.expression, operand.type), operand.values, () => 'operand');
    made.title = 'The operand under the cursor';
    head.append(made);
  }
  const [top, left] = [scroll.scrollTop, scroll.scrollLeft];
  fill(table, head, element('tbody', '', ...rows.slice(0, MOST_ROWS).map(variable)));
  scroll.scrollTo(left, top);
  note.textContent = rows.length > MOST_ROWS ? `${rows.length - MOST_ROWS} more: filter by name` : rows.length === 0 ? 'no such variable' : '';
}

/** What a thread is called, and which work items it has. */
function parted(name: string): [string, string] {
  const at = name.indexOf(': ');
  return at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 2)];
}

function drawThreads({ answer, thread }: ShownLanes): void {
  const items = answer.threads.map(({ id, name, line: at }) => {
    const made = button('', `Show the lanes of ${name}`, () => host.postMessage({ kind: 'thread', thread: id }));
    const [, items = ''] = parted(name);
    made.append(element('b', '', `thread ${shortName({ id, name, line: at })}`), ` line ${at}`, element('div', 'facts', items));
    made.setAttribute('aria-current', String(id === thread));
    return element('li', '', made);
  });
  fill(threads, ...items);
  group.textContent = parted(answer.threads[0]?.name ?? '')[0].replace(/ thread \d+$/, '');
  aside.hidden = answer.threads.length < 2;
}

let stands = false; // whether the page has its parts

listen<ShownLanes | null>((main, value) => {
  shown = value;
  main.classList.toggle('running', value === null);
  if (value === null) {
    facts.textContent = 'The kernel runs, or has ended.';
    return;
  }
  if (!stands) {
    stands = true;
    fill(main, bar(), element('div', 'sides', scroll, aside));
  }
  const { answer } = value;
  const active = answer.active.filter((on) => on).length;
  const [name] = parted(answer.threads.find((thread) => thread.id === value.thread)?.name ?? '');
  facts.textContent = `${name} · line ${answer.at.line} · ${active} of ${answer.lanes} lanes active`;
  draw();
  drawThreads(value);
});
