// The page of a run: verdict, expectations with the buffers that are not as expected, reports with links to their lines, what
// the kernel wrote; what it left as it was is folded.

import type { Shown } from '../run/panel.ts';
import type { Expectation, Report, Sent } from '../run/report.ts';
import { headingOf, payloadText, placeIn, titleOf } from '../run/report.ts';
import type { Group } from '../run/shown.ts';
import { bufferViews } from './buffer.ts';
import { button, element, fill, folded, host, listen } from './dom.ts';
import { faults, link, notes, section, where, whyLink } from './faults.ts';

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
    faults('Reports', 'reports bad', report.faults, 0),
    outputs.length === 0 ? undefined : element('section', '', element('h2', '', 'Outputs'), ...outputs),
    faults('Findings', 'noticed', report.findings, report.faults?.length ?? 0),
    messages(report.messages),
    ...notes(report.notes),
    folded(`Inputs, unchanged (${inputs.length})`, inputs),
    folded(`Assumed (${report.assumed?.length ?? 0})`, notes(report.assumed)),
  );
});
