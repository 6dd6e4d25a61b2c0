// Reports of runs, as the pages of a run and of a proof have them: both parties with their work items, lines and source lines.

import { placeOf, type Fault } from '../run/report.ts';
import { element, host } from './dom.ts';

export function link(text: string, message: object): HTMLElement {
  const made = element('a', '', text);
  made.setAttribute('href', '#');
  made.addEventListener('click', (event) => {
    event.preventDefault();
    host.postMessage(message);
  });
  return made;
}

/** A link that shows the causes of a value or of a fault. */
export function whyLink(question: object): HTMLElement {
  return element('div', 'where', link('show causes', { kind: 'why', question }));
}

export function section(title: string, style: string, items: HTMLElement[]): HTMLElement | undefined {
  return items.length === 0 ? undefined : element('section', '', element('h2', '', title), element('ul', style, ...items));
}

/** What runs report; with `before`, the number of reports in front of them, each has a link to its causes. */
export function faults(title: string, style: string, found: Fault[] = [], before?: number): HTMLElement | undefined {
  const items = found.map((fault, n) => element('li', '', ...parties(fault, before === undefined ? undefined : whyLink({ fault: before + n + 1 }))));
  return section(`${title} (${items.length})`, style, items);
}

/** A report: what it says, where, and both parties; with a line of ours behind the first. */
export function parties(fault: Fault, more?: HTMLElement): (HTMLElement | string)[] {
  return [
    element('b', '', fault.kind),
    ' ',
    ...named(fault.message),
    where(fault),
    ...(more === undefined ? [] : [more]),
    ...about(fault.work_items, fault.excerpt, fault.source, fault.source_excerpt, at(fault.access, fault.access_at)),
    ...sourceLine('its index: ', fault.index ?? '', fault.index_excerpt ?? ''),
    ...sourceLine('guarded by ', fault.condition ?? '', fault.condition_excerpt ?? ''),
    ...(fault.is_unguarded ? [element('div', 'where', 'no condition is above it: all work items execute it')] : []),
    ...(fault.contents ? [element('div', 'where', dependence(fault))] : missingBarrier(fault.no_barrier ?? [])),
    ...(fault.other ? [other(fault), ...about(fault.other_work_items, fault.other_excerpt, fault.other_source, fault.other_source_excerpt, at(fault.other_access, fault.other_access_at))] : []),
  ];
}

/** An element that is accessed, as an expression, with what it is for the first work item. */
function at(access = '', element = ''): string {
  return element === '' ? access : `${access} (${element} here)`;
}

/** What an element depends on, as the command line says it. */
function dependence({ contents, kind }: Fault): string {
  const why = kind === 'data-race' ? ': equal values lead two work items to it, whom only an atomic orders' : '; other contents lead it elsewhere';
  return `its element depends on ${contents}${why}`;
}

/** Where no barrier stands between the places of a race, as the command line says it. */
function missingBarrier([way, back]: { from: string; to: string }[]): HTMLElement[] {
  if (way === undefined) {
    return [];
  }
  const start = back === undefined ? `on the way from ${way.from} to` : `between ${way.from} and`;
  return [element('div', 'where', way.from === way.to ? `no barrier on the way from ${way.from} back to it` : `no barrier ${start} ${way.to}`)];
}

/** A message whose names, between backquotes, are code. */
function named(message: string): (HTMLElement | string)[] {
  return message.split('`').map((part, n) => (n % 2 === 1 ? element('code', '', part) : part));
}

/** What the command line says of a party of a report: its work items, its line, and the line of its source. */
function about(items: string | undefined, excerpt: string, source: string, sourceExcerpt: string, access = ''): HTMLElement[] {
  return [
    ...(!items ? [] : [element('div', 'where', `work items: ${items}`)]),
    ...(excerpt === '' ? [] : [element('code', 'excerpt', excerpt)]),
    ...sourceLine('', source, sourceExcerpt),
    ...(access === '' ? [] : [element('div', 'where', 'accesses ', element('code', '', access))]),
  ];
}

/** A line of the source, behind some words; nothing where it is not known. */
function sourceLine(before: string, source: string, excerpt: string): HTMLElement[] {
  const place = placeOf(source);
  const name = place && `${place.file.split(/[\\/]/).at(-1)}:${place.line}`;
  return place === undefined ? [] : [element('code', 'excerpt', before, excerpt === '' ? name : link(name!, { kind: 'place', place }), ` ${excerpt}`)];
}

type At = { group: number[]; thread: number; lane?: number | null; line: number | null; place: string };

/** A line of its own, in the words that the other party of a report has, too. */
export function where(at: At, before = ''): HTMLElement {
  const lane = (at.lane ?? null) === null ? '' : `, lane ${at.lane}`;
  const said = `${before}group (${at.group.join(', ')}), thread ${at.thread}${lane}`;
  return element('div', 'where', said, ...(at.line === null ? [] : [', ', lineLink(at.line, at.place)]));
}

/** The link to a line: of the file that it is in, else of the text that was run. */
export function lineLink(line: number, where: string): HTMLElement {
  const place = placeOf(where);
  return link(`line ${line}`, place ? { kind: 'place', place } : { kind: 'line', line });
}

/** The other party of a report: the declaration of the variable, or the access that it races with. Its line comes last. */
function other(fault: Fault): HTMLElement {
  const [, party, line] = /^(.*?)(?:\bline (\d+))?$/s.exec(fault.other!)!;
  return element('div', 'where', `other party: ${party}`, line === undefined ? undefined : lineLink(Number(line), fault.other_place));
}

export function notes(said: string[] = []): HTMLElement[] {
  return said.length === 0 ? [] : [element('ul', 'notes', ...said.map((note) => element('li', '', note)))];
}
