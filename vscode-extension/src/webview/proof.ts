// The page of a proof: verdict, what buffers have to hold, then each property: what launches refute, with the reports of their
// runs and buttons to run and debug them, and lines without an answer by the reason.

import type { KernelProof, PropertyProof, Refuted, ShownProof } from '../run/proof.ts';
import { button, element, fill, folded, host, listen } from './dom.ts';
import { lineLink, link, notes, parties, section } from './faults.ts';

function verdict({ title, summary, assumed, kernels }: ShownProof): HTMLElement {
  const words = summary.split(', ').map((part) => part.split(' ').at(-1)!);
  const word = words.includes('refuted') ? 'refuted' : words.includes('unknown') || words.includes('bounded') ? 'unknown' : 'proved';
  const again = button('Prove again', 'Prove the text as it is now', () => host.postMessage({ kind: 'again' }));
  const assume = button('Assume...', 'Give conditions that every launch keeps, and prove again', () => host.postMessage({ kind: 'assume' }));
  const badge = element('span', `badge ${word === 'proved' ? 'good' : word === 'refuted' ? 'bad' : ''}`, word);
  const head = element('div', 'head', badge, element('h1', '', kernels.map(({ name }) => name).join(', ') || title), again, assume);
  return element('header', '', head, element('div', 'facts', `${title} · ${summary}`), assumed.length === 0 ? undefined : element('div', 'facts', `assumed: ${assumed.join('; ')}`));
}

/** `lines 5, 7`, each a link. */
function linksTo(lines: number[]): (HTMLElement | string)[] {
  return lines.flatMap((line, n) => [n === 0 ? '' : ', ', lineLink(line, '')]);
}

function launchButtons({ launch }: Refuted): HTMLElement | undefined {
  const send = (how: 'run' | 'debug' | 'open') => (): void => host.postMessage({ kind: 'launch', file: launch, how });
  return launch === ''
    ? undefined
    : element('div', 'launch', button('Run', 'Run the launch that shows it', send('run')), button('Debug', 'Debug the launch that shows it', send('debug')), link('launch file', { kind: 'launch', file: launch, how: 'open' }));
}

function refuted(one: Refuted): HTMLElement {
  const said = one.faults.flatMap((fault) => [element('div', 'said', ...parties(fault))]);
  return element('li', '', ...(said.length > 0 ? said : [one.words, ': ', ...linksTo(one.lines)]), launchButtons(one));
}

function property({ name, summary, refuted: found, others }: PropertyProof): HTMLElement {
  const open = others.map(({ words, lines }) => element('li', '', `${words} (`, ...linksTo(lines), ')'));
  return element(
    'section',
    '',
    element('h2', '', name, ' ', element('span', 'facts', summary)),
    found.length === 0 ? undefined : element('ul', 'reports bad', ...found.map(refuted)),
    open.length === 0 ? undefined : element('ul', 'noticed', ...open),
  );
}

function kernel(one: KernelProof, several: boolean): HTMLElement {
  const needs = one.needs.map(({ buffer, elements, unit }) => element('li', '', element('b', '', buffer), `: ${elements} ${unit}`));
  const assumed = notes(one.assumptions);
  return element(
    'article',
    '',
    several ? element('h1', '', one.name) : undefined,
    section('Buffers need', 'notes', needs),
    ...one.properties.map(property),
    folded(`What is proved holds for launches in which (${one.assumptions.length})`, assumed),
  );
}

listen<ShownProof | undefined>((main, shown) => {
  if (shown !== undefined) {
    fill(main, verdict(shown), ...shown.kernels.map((one) => kernel(one, shown.kernels.length > 1)));
  }
});
