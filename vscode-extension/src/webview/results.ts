// The page of a run: verdict, expectations, reports with links to their lines, and the buffers.

import type { Shown } from '../run/panel.ts';
import type { Fault, Report } from '../run/report.ts';
import { placeIn } from '../run/report.ts';
import { bufferView } from './buffer.ts';
import { button, element, fill, host, listen } from './dom.ts';

function verdict(shown: Shown): HTMLElement {
  const { report } = shown;
  const again = button('Run again', 'Run the kernel again', () => host.postMessage({ kind: 'again' }));
  const compared = (report.expectations ?? []).length > 0;
  const word = report.error !== undefined ? 'not run' : !report.ok ? 'failed' : compared ? 'passed' : 'done';
  const head = element('div', 'head', element('span', `badge ${report.ok ? 'good' : 'bad'}`, word), element('h1', '', shown.title), again);
  if (report.kernel === undefined) {
    return head;
  }
  const facts = [
    `kernel ${report.kernel}`,
    `${report.platform}`,
    `engine ${report.engine}`,
    count(report.groups, 'group'),
    count(report.threads, 'thread'),
    count(report.instructions, 'instruction'),
  ];
  return element('header', '', head, element('div', 'facts', facts.join(' · ')));
}

function count(number: number | undefined, word: string): string {
  return `${(number ?? 0).toLocaleString('en-US')} ${word}${number === 1 ? '' : 's'}`;
}

function link(text: string, message: object): HTMLElement {
  const made = element('a', '', text);
  made.setAttribute('href', '#');
  made.addEventListener('click', (event) => {
    event.preventDefault();
    host.postMessage(message);
  });
  return made;
}

function errorLines(error: string): HTMLElement {
  const lines = error.split('\n').map((line) => {
    const place = placeIn(line);
    return element('li', '', place === undefined ? line : link(line, { kind: 'place', text: line }));
  });
  return element('ul', 'reports bad', ...lines);
}

function expectations(report: Report): HTMLElement | undefined {
  const items = (report.expectations ?? []).map((e) =>
    element('li', e.ok ? 'good' : 'bad', element('b', '', `${e.arg}`), ` ${e.ok ? 'is as expected' : e.message}`),
  );
  return items.length === 0 ? undefined : element('section', '', element('h2', '', 'Expectations'), element('ul', 'checks', ...items));
}

function faults(report: Report): HTMLElement | undefined {
  const items = (report.faults ?? []).map((fault) => element('li', '', element('b', '', fault.kind), ` ${fault.message} `, where(fault)));
  return items.length === 0
    ? undefined
    : element('section', '', element('h2', '', `Reports (${items.length})`), element('ul', 'reports bad', ...items));
}

function where(fault: Fault): HTMLElement {
  const lane = fault.lane === null ? '' : `, lane ${fault.lane}`;
  const place = `group ${fault.group.join(',')}, thread ${fault.thread}${lane}`;
  const line = fault.line === null ? '' : link(`line ${fault.line}`, { kind: 'line', line: fault.line });
  return element('span', 'where', `${place} `, line);
}

function notes(report: Report): HTMLElement | undefined {
  const items = (report.notes ?? []).map((note) => element('li', '', note));
  return items.length === 0 ? undefined : element('ul', 'notes', ...items);
}

listen<Shown | undefined>((main, shown) => {
  if (shown === undefined) {
    return;
  }
  const { report } = shown;
  const buffers = shown.buffers.map(bufferView);
  fill(
    main,
    verdict(shown),
    report.error === undefined ? undefined : errorLines(report.error),
    expectations(report),
    faults(report),
    notes(report),
    buffers.length === 0 ? undefined : element('section', '', element('h2', '', 'Buffers'), ...buffers),
  );
});
