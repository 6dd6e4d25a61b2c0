// The page of a control-flow graph: drawn as SVG, moved by dragging, zoomed by the wheel; a click on a block goes there.

import { layout, type Box, type Graph, type Route } from '../views/graph.ts';
import { button, element, fill, host, listen } from './dom.ts';

interface Shown {
  title: string;
  graph: Graph | undefined;
  dot: string;
  mermaid: string;
  error: string;
}

const SVG = 'http://www.w3.org/2000/svg';

function svg(tag: string, attributes: Record<string, string | number>, ...children: Element[]): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

function block(box: Box): SVGElement {
  const rows = box.lines.map((line, n) => {
    const row = svg('text', { x: box.x + 10, y: box.y + 22 + 16 * n, class: n === 0 ? 'title' : '' });
    row.textContent = line;
    return row;
  });
  const group = svg('g', { class: box.faint ? 'block faint' : 'block' }, svg('rect', { x: box.x, y: box.y, width: box.width, height: box.height, rx: 4 }), ...rows);
  group.addEventListener('click', () => host.postMessage({ kind: 'line', line: box.line }));
  return group;
}

function arrow(route: Route): SVGElement {
  const kind = route.back ? 'back' : route.kind;
  const line = svg('path', { d: pathOf(route.points), class: `edge ${kind}`, 'marker-end': 'url(#tip)' });
  const first = route.points[0]!;
  const text = svg('text', { x: first[0] + 5, y: first[1] + 14, class: 'label' });
  text.textContent = route.label;
  return svg('g', {}, line, text);
}

/** A curve between two points, or a way along corners that are rounded. */
function pathOf(points: [number, number][]): string {
  const [a, b] = [points[0]!, points.at(-1)!];
  if (points.length === 2) {
    const middle = (a[1] + b[1]) / 2;
    return `M${a[0]},${a[1]} C${a[0]},${middle} ${b[0]},${middle} ${b[0]},${b[1]}`;
  }
  let path = `M${a[0]},${a[1]}`;
  for (let n = 1; n < points.length - 1; n++) {
    const [before, at, after] = [points[n - 1]!, points[n]!, points[n + 1]!];
    const [from, to] = [toward(at, before), toward(at, after)];
    path += ` L${from[0]},${from[1]} Q${at[0]},${at[1]} ${to[0]},${to[1]}`;
  }
  return `${path} L${b[0]},${b[1]}`;
}

function toward(at: [number, number], other: [number, number]): [number, number] {
  const distance = Math.hypot(other[0] - at[0], other[1] - at[1]);
  const part = distance === 0 ? 0 : Math.min(8, distance / 2) / distance;
  return [at[0] + (other[0] - at[0]) * part, at[1] + (other[1] - at[1]) * part];
}

function picture(graph: Graph): HTMLElement {
  const made = layout(graph);
  const tip = svg('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto' });
  tip.append(svg('path', { d: 'M0,0 L8,4 L0,8 z', class: 'tip' }));
  const drawing = svg('svg', {}, svg('defs', {}, tip), ...made.routes.map(arrow), ...made.boxes.map(block));
  const frame = element('div', 'frame', drawing);
  const view = { x: 0, y: 0, scale: 1 };
  const apply = (): void => {
    const [width, height] = [frame.clientWidth / view.scale, frame.clientHeight / view.scale];
    drawing.setAttribute('viewBox', `${view.x} ${view.y} ${width} ${height}`);
  };
  new ResizeObserver(() => {
    // As wide as the view, unless that makes the text too small to read.
    view.scale = Math.min(1.1, Math.max(0.7, frame.clientWidth / made.width));
    view.x = (made.width - frame.clientWidth / view.scale) / 2;
    view.y = 0;
    apply();
  }).observe(frame);
  frame.addEventListener('wheel', (event) => {
    event.preventDefault();
    const scale = Math.min(4, Math.max(0.1, view.scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15)));
    view.x += event.offsetX / view.scale - event.offsetX / scale;
    view.y += event.offsetY / view.scale - event.offsetY / scale;
    view.scale = scale;
    apply();
  });
  frame.addEventListener('pointermove', (event) => {
    if (event.buttons === 1) {
      view.x -= event.movementX / view.scale;
      view.y -= event.movementY / view.scale;
      apply();
    }
  });
  return frame;
}

listen<Shown | undefined>((main, shown) => {
  if (shown === undefined) {
    return;
  }
  const copy = (name: string, text: string): HTMLElement | undefined =>
    text === '' ? undefined : button(`Copy ${name}`, `Copy the graph as ${name}`, () => host.postMessage({ kind: 'copy', text }));
  const place = element('div', 'place', shown.graph ? picture(shown.graph) : element('p', 'bad', shown.error || 'There is nothing to draw.'));
  const name = element('span', 'facts', shown.graph?.name ?? '');
  fill(main, element('div', 'bar', element('h3', '', shown.title), name, copy('DOT', shown.dot), copy('Mermaid', shown.mermaid)), place);
});
