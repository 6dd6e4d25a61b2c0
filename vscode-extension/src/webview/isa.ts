// The page of an object: what is in it, and its disassembly with line numbers. Long texts are laid out only where seen.

import type { Disassembly } from '../views/isa.ts';
import { button, element, fill, host, listen } from './dom.ts';

const BLOCK = 200;
const TOKEN =
  /(\/\/.*$)|("(?:[^"\\]|\\.)*")|(\.[A-Za-z_]\w*(?=\s|$))|(\bM[1-8](?:_NM)?\b|\bNoMask\b)|(%\w+)|(<[\d;, ]+>)|(:[a-z]+\b)|(\b0x[\da-fA-F]+\b|\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)/g;
const KINDS = ['comment', 'string', 'directive', 'mask', 'predefined', 'region', 'type', 'number'];

function coloured(line: string): (Element | string)[] {
  const label = /^[A-Za-z_$@?][\w$@?-]*:\s*(?=$|\/\/)/.exec(line)?.[0];
  const mnemonic = /^(\s*(?:\(!?\w+(?:\.\w+)?\)\s*)?)([a-z]\w*(?:\.\w+(?:<\d+>)?)*)(?=\s|$)/.exec(line);
  const parts: (Element | string)[] = [];
  let rest = line;
  if (label !== undefined) {
    parts.push(element('span', 'label', label));
    rest = line.slice(label.length);
  } else if (mnemonic !== null) {
    parts.push(mnemonic[1]!, element('span', 'mnemonic', mnemonic[2]!));
    rest = line.slice(mnemonic[0].length);
  }
  let from = 0;
  for (const found of rest.matchAll(TOKEN)) {
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)]!;
    parts.push(rest.slice(from, found.index), element('span', kind, found[0]));
    from = found.index + found[0].length;
  }
  return [...parts, rest.slice(from)];
}

function listing(text: string): HTMLElement {
  const lines = text.replace(/\n$/, '').split('\n');
  const digits = String(lines.length).length;
  const blocks: HTMLElement[] = [];
  for (let first = 0; first < lines.length; first += BLOCK) {
    const part = lines.slice(first, first + BLOCK);
    const made = element('div', 'lines');
    made.style.setProperty('contain-intrinsic-height', `${part.length * 18}px`);
    part.forEach((line, n) => {
      const number = element('span', 'number-column', String(first + n + 1).padStart(digits));
      made.append(element('div', 'line', number, ...coloured(line)));
    });
    blocks.push(made);
  }
  return element('div', 'listing', ...blocks);
}

listen<Disassembly>((main, shown) => {
  if (shown.error !== '') {
    fill(main, element('h3', '', shown.name), element('p', 'bad', shown.error));
    return;
  }
  const send = (kind: string) => (): void => host.postMessage({ kind });
  const bar = element(
    'div',
    'bar',
    element('h3', '', shown.name),
    element('span', 'facts', 'read-only disassembly'),
    button('Open as Text', 'Open the disassembly in a text editor with all language features', send('text')),
    button('Control Flow', 'Show the control-flow graph', send('flow')),
  );
  const summary = element('details', '', element('summary', '', 'What is in it'), element('pre', '', shown.summary));
  fill(main, bar, summary, listing(shown.text));
});
