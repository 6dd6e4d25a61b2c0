// The page of an object: what is in it, and its disassembly with line numbers. Long texts are laid out only where seen.

import type { Disassembly } from '../views/isa.ts';
import { coloured } from './code.ts';
import { button, element, fill, host, listen } from './dom.ts';

const BLOCK = 200;
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
      made.append(element('div', 'line', number, ...coloured(line).map(([kind, text]) => (kind === '' ? text : element('span', kind, text)))));
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
