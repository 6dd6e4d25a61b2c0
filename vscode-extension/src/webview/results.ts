// The page of a run: verdict, expectations with the buffers that are not as expected, reports with links to their lines, what
// the kernel wrote; what it left as it was is folded.

import type { Shown } from '../run/panel.ts';
import type { Expectation, Fault, Report, Sent } from '../run/report.ts';
import { headingOf, payloadText, placeIn, placeOf, titleOf } from '../run/report.ts';
import type { Group } from '../run/shown.ts';
import { bufferViews } from './buffer.ts';
import { button, element, fill, folded, host, listen } from './dom.ts';

function verdict(shown: Shown): HTMLElement {
  const { report } = shown;
  const again = button('Run again', 'Run the kernel again', () => host.postMessage({ kind: 'again' }));
  const compared = (report.expectations ?? []).length > 0;
  const word = report.error !== undefined ? 'not run' : !report.ok ? 'failed' : compared ? 'passed' : 'done';
  const head = element('div', 'head', element('span', `badge ${report.ok ? 'good' : 'bad'}`, word), element('h1', '', headingOf(report.kernel, shown.title)), again);
  if (report.kernel === undefined) {
    return element('header', '', head);
  }
  const facts = [
    shown.title,
    `${report.platform}`,
    `engine ${report.engine}`,
    count(report.groups, 'group'),
    count(report.threads, 'thread'),
    count(report.instructions, 'instruction'),
  ];
  // A line breaks between two facts, not inside one.
  const line = facts.map((fact) => fact.replaceAll(' ', '\u00a0')).join('\u00a0· ');
  return element('header', '', head, element('div', 'facts', line));
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

/** A link that shows the causes of a value or of a fault. */
function whyLink(question: object): HTMLElement {
  return element('div', 'where', link('show causes', { kind: 'why', question }));
}

function errorLines(error: string): HTMLElement {
  const lines = error.split('\n').map((line) => {
    const place = placeIn(line);
    return element('li', '', place === undefined ? line : link(line, { kind: 'place', place }));
  });
  return element('ul', 'reports bad', ...lines);
}

function expectations(report: Report, wrong: HTMLElement[]): HTMLElement | undefined {
  const items = (report.expectations ?? [])
    .toSorted((a, b) => Number(a.ok) - Number(b.ok))
    .map((e) => element('li', e.ok ? 'good' : 'bad', element('b', '', titleOf(report, e.arg)), ` ${e.ok ? 'is as expected' : 'is not as expected'}`, ...(e.ok ? [] : [whyLink(questionOf(e))])));
  const made = section('Expectations', 'checks', items);
  made?.append(...wrong);
  return made;
}

/** The first element that differs, by the key of its argument; the first failure of all where none is known. */
function questionOf(expectation: Expectation): object {
  const at = expectation.differences?.first[0]?.at;
  return at === undefined ? {} : { value: `${expectation.arg}[${at.join(', ')}]` };
}

function section(title: string, style: string, items: HTMLElement[]): HTMLElement | undefined {
  return items.length === 0 ? undefined : element('section', '', element('h2', '', title), element('ul', style, ...items));
}

function faults(title: string, style: string, found: Fault[] = [], before = 0): HTMLElement | undefined {
  const items = found.map((fault, n) =>
    element(
      'li',
      '',
      element('b', '', fault.kind),
      ' ',
      ...named(fault.message),
      where(fault),
      whyLink({ fault: before + n + 1 }),
      ...about(fault.work_items, fault.excerpt, fault.source, fault.source_excerpt),
      other(fault),
      ...(fault.other ? about(fault.other_work_items, fault.other_excerpt, fault.other_source, fault.other_source_excerpt) : []),
    ),
  );
  return section(`${title} (${items.length})`, style, items);
}

/** A message whose names, between backquotes, are code. */
function named(message: string): (HTMLElement | string)[] {
  return message.split('`').map((part, n) => (n % 2 === 1 ? element('code', '', part) : part));
}

/** What the command line says of a party of a report: its work items, its line, and the line of its source. */
function about(items: string, excerpt: string, source: string, sourceExcerpt: string): HTMLElement[] {
  const place = placeOf(source);
  const name = place && `${place.file.split(/[\\/]/).at(-1)}:${place.line}`;
  return [
    ...(items === '' ? [] : [element('div', 'where', `work items: ${items}`)]),
    ...(excerpt === '' ? [] : [element('code', 'excerpt', excerpt)]),
    ...(place === undefined ? [] : [element('code', 'excerpt', sourceExcerpt === '' ? name : link(name!, { kind: 'place', place }), ` ${sourceExcerpt}`)]),
  ];
}

type At = { group: number[]; thread: number; lane?: number | null; line: number | null; place: string };

/** A line of its own, in the words that the other party of a report has, too. */
function where(at: At, before = ''): HTMLElement {
  const lane = (at.lane ?? null) === null ? '' : `, lane ${at.lane}`;
  const said = `${before}group (${at.group.join(', ')}), thread ${at.thread}${lane}`;
  return element('div', 'where', said, ...(at.line === null ? [] : [', ', lineLink(at.line, at.place)]));
}

/** The link to a line: of the file that it is in, else of the text that was run. */
function lineLink(line: number, where: string): HTMLElement {
  const place = placeOf(where);
  return link(`line ${line}`, place ? { kind: 'place', place } : { kind: 'line', line });
}

/** The other party of a report: the declaration of the variable, or the access that it races with. Its line comes last. */
function other(fault: Fault): HTMLElement | undefined {
  if (!fault.other) {
    return undefined;
  }
  const [, party, line] = /^(.*?)(?:\bline (\d+))?$/s.exec(fault.other)!;
  return element('div', 'where', `other party: ${party}`, line === undefined ? undefined : lineLink(Number(line), fault.other_place));
}

function messages(found: Sent[] = []): HTMLElement | undefined {
  const items = found.map((sent) =>
    element(
      'li',
      '',
      element('b', '', sent.kind),
      ` is recorded only: ${sent.reason}`,
      where(sent, `sent ${count(sent.count, 'time')}, first by ${sent.kernel}: `),
      element('div', 'payload', ...sent.payload.flatMap((part) => [element('span', 'where', part.operand), element('span', '', payloadText(part))])),
    ),
  );
  return section(`Messages (${items.length})`, 'noticed', items);
}

function notes(said: string[] = []): HTMLElement[] {
  return said.length === 0 ? [] : [element('ul', 'notes', ...said.map((note) => element('li', '', note)))];
}

listen<Shown | undefined>((main, shown) => {
  if (shown === undefined) {
    return;
  }
  const { report } = shown;
  const of = (group: Group): HTMLElement[] => shown.buffers.filter((buffer) => buffer.group === group).flatMap(bufferViews);
  const [outputs, inputs] = [of('output'), of('input')];
  fill(
    main,
    verdict(shown),
    report.error === undefined ? undefined : errorLines(report.error),
    expectations(report, of('wrong')),
    faults('Reports', 'reports bad', report.faults),
    outputs.length === 0 ? undefined : element('section', '', element('h2', '', 'Outputs'), ...outputs),
    faults('Findings', 'noticed', report.findings, report.faults?.length ?? 0),
    messages(report.messages),
    ...notes(report.notes),
    folded(`Inputs, unchanged (${inputs.length})`, inputs),
    folded(`Assumed (${report.assumed?.length ?? 0})`, notes(report.assumed)),
  );
});
