// The page of a control-flow graph: a toolbar and the drawing.

import type { Graph } from '../views/graph.ts';
import { button, element, fill, host, listen } from './dom.ts';
import { Drawing } from './drawing.ts';

interface Shown {
  title: string;
  graph: Graph | undefined;
  at: string | undefined;
  dot: string;
  mermaid: string;
  error: string;
}

let drawing: Drawing | undefined;

listen<Shown | { cursor: string } | undefined>((main, shown) => {
  if (shown === undefined) {
    return;
  }
  if ('cursor' in shown) {
    drawing?.mark(shown.cursor);
    return;
  }
  const copy = (name: string, text: string): HTMLElement | undefined =>
    text === '' ? undefined : button(`Copy ${name}`, `Copy the graph as ${name}`, () => host.postMessage({ kind: 'copy', text }));
  const goTo = (line: number): void => host.postMessage({ kind: 'line', line });
  drawing = shown.graph && new Drawing(shown.graph, goTo, drawing?.name === shown.graph.name ? drawing : undefined);
  const place = element('div', 'place', drawing?.frame ?? element('p', 'bad', shown.error || 'There is nothing to draw.'));
  const name = element('span', 'facts', shown.graph?.name ?? '');
  const head = [element('h3', '', shown.title), name, drawing?.buttons, copy('DOT', shown.dot), copy('Mermaid', shown.mermaid)];
  fill(main, element('div', 'bar', ...head), place);
  drawing?.placed(shown.at);
});
