// The page of a zebin: its kernels and sections as tables; ze_info and vISA open as documents.

import type { ZebinContent } from '../views/zebin.ts';
import { button, element, fill, host, listen } from './dom.ts';

function table(heads: string[], rows: (Element | string)[][]): HTMLElement {
  const head = element('thead', '', element('tr', '', ...heads.map((text) => element('th', '', text))));
  const body = rows.map((row) => element('tr', '', ...row.map((cell) => element('td', '', cell))));
  return element('table', 'parts', head, element('tbody', '', ...body));
}

function link(text: string, title: string, message: object): HTMLElement {
  const made = button(text, title, () => host.postMessage(message));
  made.className = 'link';
  return made;
}

const told = (value: number | null | undefined, unit = ''): string => (value === undefined || value === null ? '' : `${value.toLocaleString('en')}${unit}`);

function kernels({ kernels = [], hasZeInfo }: ZebinContent): HTMLElement {
  const rows = kernels.map((kernel) => [
    hasZeInfo && kernel.simd !== undefined
      ? link(kernel.name, `Open ze_info at ${kernel.name}`, { kind: 'zeinfo', kernel: kernel.name })
      : kernel.name,
    told(kernel.simd),
    told(kernel.registers),
    told(kernel.arguments),
    told(kernel.bytes, ' bytes') || 'none',
  ]);
  return rows.length === 0
    ? element('p', 'facts', 'There is no kernel in it.')
    : table(['Kernel', 'SIMD', 'Registers', 'Arguments', 'Native code'], rows);
}

function modules({ modules: found }: ZebinContent): HTMLElement {
  const items = found.map(({ name, error }) =>
    element('li', error ? 'bad' : '', link(`${name}.visaasm`, 'Open the text with all language features', { kind: 'module', name }), error ? ` ${error}` : undefined),
  );
  return items.length === 0
    ? element('p', 'facts', 'There is no vISA in it: a compiler keeps it only when asked to. Its dump folder has the texts.')
    : element('ul', '', ...items);
}

listen<ZebinContent>((main, shown) => {
  const head = element('h3', '', shown.name);
  if (shown.error) {
    fill(main, element('div', 'bar', head), element('p', 'bad', shown.error));
    return;
  }
  const zeInfo = shown.hasZeInfo ? button('ze_info', 'Open ze_info as a read-only document', () => host.postMessage({ kind: 'zeinfo' })) : undefined;
  const rows = (shown.sections ?? []).map((s) => [s.name, s.type, told(s.bytes, ' bytes'), `0x${s.offset.toString(16)}`]);
  fill(
    main,
    element('div', 'bar', head, element('span', 'facts', `zebin, ${told(shown.bytes)} bytes, read-only`), zeInfo),
    shown.zeInfoProblem ? element('p', 'bad', shown.zeInfoProblem) : undefined,
    element('h2', '', 'Kernels'),
    kernels(shown),
    element('h2', '', 'vISA'),
    modules(shown),
    element('h2', '', `Sections (${rows.length})`),
    table(['Section', 'Type', 'Size', 'Offset'], rows),
  );
});
