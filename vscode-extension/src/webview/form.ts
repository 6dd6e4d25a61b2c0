// The page of a quick run: a row for each argument, and what to do with them.

import type { FormArgument, FormContent, FormProblem } from '../run/form.ts';
import { headingOf } from '../run/report.ts';
import { buffer, DTYPES, EntryError, FILLS, number, sizes, value } from '../run/entries.ts';
import { button, element, fill, host, listen, select } from './dom.ts';

type Entry = () => unknown;

function input(text: string, title: string, wide = false): HTMLInputElement {
  const made = document.createElement('input');
  made.value = text;
  made.title = title;
  made.setAttribute('aria-label', title);
  made.classList.toggle('wide', wide);
  return made;
}

function choice<T extends string>(options: readonly T[], chosen: T, title: string, changed: (value: T) => void = () => undefined): HTMLSelectElement {
  const made = select(options.includes(chosen) ? options : [chosen, ...options], chosen, title, changed) as HTMLSelectElement;
  made.setAttribute('aria-label', title);
  return made;
}

function row(name: string, kind: string, ...fields: (Element | undefined)[]): HTMLElement {
  const cell = element('td', 'fields', ...fields);
  return element('tr', '', element('th', '', name), element('td', 'facts', kind), cell);
}

/** An array's fields: element type, lengths, contents. */
function arrayFields(given: Record<string, unknown>, what: string): [Element[], () => Record<string, unknown>] {
  const shape = input((given['shape'] as number[]).join('x'), `${what}: length, or lengths with x between them`);
  const values = input('', `${what}: values`, true);
  values.placeholder = '1, 2.5, -3';
  const swap = (word: string): void => {
    values.hidden = word !== 'values';
    shape.hidden = word === 'values';
  };
  const dtype = choice(DTYPES, String(given['dtype']) as (typeof DTYPES)[number], `${what}: element type`);
  const contents = choice(FILLS, String(given['init']) as (typeof FILLS)[number], `${what}: contents`, swap);
  swap(contents.value);
  const read = (): Record<string, unknown> =>
    buffer({ dtype: dtype.value, shape: shape.value, fill: contents.value, values: values.value }, what);
  return [[dtype, shape, contents, values], read];
}

function argument(given: FormArgument): [HTMLElement, Entry] {
  const name = given.name || String(given.index);
  const { launch, kind } = given;
  if (kind === 'buffer' || kind === 'image') {
    const [fields, read] = arrayFields(launch[kind] as Record<string, unknown>, name);
    return [row(name, kind, ...fields), () => ({ [kind]: read() })];
  }
  if (kind === 'local') {
    const bytes = input(String(launch['local']), `${name}: bytes`);
    return [row(name, 'local memory', bytes, element('span', 'facts', 'bytes')), () => ({ local: number(bytes.value, name) })];
  }
  if (kind === 'sampler') {
    const sampler = launch['sampler'] as Record<string, unknown>;
    const address = choice(['none', 'clamp_to_edge', 'clamp', 'repeat', 'mirrored_repeat'], String(sampler['address']), `${name}: address mode`);
    const filter = choice(['nearest', 'linear'], String(sampler['filter']), `${name}: filter`);
    const unit = choice(['pixels', '0 to 1'], 'pixels', `${name}: coordinates`);
    const read = (): unknown => ({ sampler: { address: address.value, filter: filter.value, normalized: unit.value !== 'pixels' } });
    return [row(name, kind, address, filter, unit), read];
  }
  const held = launch['value'];
  const list = typeof held === 'object' && held !== null ? (held as { values: number[]; dtype: string }) : undefined;
  const text = input(list ? list.values.join(', ') : String(held), `${name}: value`, list !== undefined);
  const dtype = choice(DTYPES, String(list?.dtype ?? launch['dtype']) as (typeof DTYPES)[number], `${name}: type`);
  return [row(name, 'value', dtype, text), () => value(dtype.value, text.value, name)];
}

interface Page {
  parts: HTMLElement[];
  problem: HTMLElement;
}

// By kernel: what was entered stays in a page while another one is shown.
const pages = new Map<string, Page>();
let current: Page | undefined;

listen<FormContent | FormProblem | undefined>((main, shown) => {
  if (shown === undefined) {
    return;
  }
  if ('problem' in shown) {
    if (current !== undefined) {
      current.problem.textContent = shown.problem;
    }
    return;
  }
  if (shown.fresh) {
    pages.clear();
  }
  const present = (page: Page): void => {
    current = page;
    page.problem.textContent = '';
    fill(main, ...page.parts);
  };
  const head = element('div', 'head', element('h1', '', `Run ${headingOf(shown.kernel, shown.title)}`));
  if (shown.error !== '') {
    const lines = shown.error.split('\n').map((line) => element('li', '', line));
    const look = button('Open the Text', 'Go to the text', () => host.postMessage({ kind: 'place', text: shown.error }));
    fill(main, element('header', '', head), element('ul', 'reports bad', ...lines), element('div', 'bar', look));
    return;
  }
  const choose = (name: string): void => {
    kernels.value = shown.kernel; // this page stays that of its kernel
    const known = pages.get(name);
    if (known === undefined) {
      host.postMessage({ kind: 'kernel', name });
    } else {
      present(known);
    }
  };
  const kernels = choice(shown.kernels, shown.kernel, 'Kernel', choose);
  const groups = input(shown.groups.join(', '), 'Thread groups: x, y, z');
  const local = input(shown.localSize.join(', '), 'Work items of a group: x, y, z');
  const made = shown.arguments.map(argument);
  const problem = element('p', 'bad', '');
  const send = (kind: 'run' | 'save') => (): void => {
    try {
      const quick = {
        kernel: shown.kernel,
        groups: sizes(groups.value, 'groups'),
        local_size: sizes(local.value, 'group size'),
        args: made.map(([, read]) => read()),
      };
      problem.textContent = '';
      host.postMessage({ kind, quick });
    } catch (error) {
      problem.textContent = error instanceof EntryError ? error.message : String(error);
    }
  };
  const run = button('Run', 'Run the kernel; the values are shown beside', send('run'));
  run.className = 'primary';
  const rows = [
    row('kernel', '', shown.kernels.length > 1 ? kernels : element('span', '', shown.kernel)),
    row('groups', 'how many', groups),
    row('group size', 'work items', local),
    ...made.map(([line]) => line),
  ];
  const table = element('table', 'form', element('tbody', '', ...rows));
  const save = button('Save as Launch File', 'Write this as the launch file beside the text', send('save'));
  const header = element('header', '', head, element('div', 'facts', shown.title));
  const page = { parts: [header, table, problem, element('div', 'bar', run, save)], problem };
  pages.set(shown.kernel, page);
  present(page);
});
