// A control-flow graph as SVG: moved by dragging, zoomed by wheel, buttons and keys; arrow keys go from block to block.

import { layout, type Box, type Graph, type Layout, type Route } from '../views/graph.ts';
import { moved } from '../views/moves.ts';
import { coloured } from './code.ts';
import { button, element, svg } from './dom.ts';

const STEP = 1.25;
const [SMALLEST, LARGEST] = [0.1, 4];
const MARGIN = 24; // kept free around a block that is brought into view, in pixels of the page
const HELP = 'Arrow keys go from block to block, Enter goes to the text, plus and minus zoom, 0 is full size, F shows all.';

export class Drawing {
  readonly name: string;
  readonly frame: HTMLElement;
  readonly buttons: HTMLElement;
  private readonly made: Layout;
  private readonly drawing: SVGElement;
  private readonly blocks = new Map<string, SVGElement>();
  private readonly goTo: (line: number) => void;
  private readonly percent: HTMLElement;
  private view = { x: 0, y: 0, scale: 1 };
  private touched: boolean; // the user has chosen what is seen
  private at: string | undefined;
  private readonly hadFocus: string | undefined;

  /** What is seen stays as it is where there was a drawing of the same kernel before. */
  constructor(graph: Graph, goTo: (line: number) => void, before: Drawing | undefined) {
    this.name = graph.name;
    this.goTo = goTo;
    this.made = layout(graph);
    this.touched = before?.touched ?? false;
    this.view = { ...(before?.view ?? this.view) };
    this.hadFocus = before?.focused();
    this.made.boxes.forEach((box, n) => this.blocks.set(box.id, this.block(box, n)));
    this.drawing = svg('svg', { role: 'group', 'aria-label': 'Blocks' }, tips(), ...this.made.routes.map(arrow), ...this.blocks.values(), ...this.made.routes.map(label));
    this.frame = element('div', 'frame');
    this.frame.setAttribute('role', 'application');
    this.frame.setAttribute('aria-label', `Control-flow graph of ${graph.name}, ${graph.nodes.length} blocks. ${HELP}`);
    this.frame.append(this.drawing);
    this.percent = button('', 'Full size (0)', () => this.zoomTo(1));
    this.percent.className = 'percent';
    this.buttons = element(
      'span',
      'zoom',
      named(button('−', 'Zoom out (-)', () => this.zoom(1 / STEP)), 'Zoom out'),
      this.percent,
      named(button('+', 'Zoom in (+)', () => this.zoom(STEP)), 'Zoom in'),
      button('Fit', 'Show the whole graph (F)', () => this.fit()),
    );
    this.listen();
  }

  /** Called when the frame is on the page. */
  placed(at: string | undefined): void {
    new ResizeObserver(() => {
      if (!this.touched) {
        this.begin();
      }
      this.apply();
    }).observe(this.frame);
    if (!this.touched) {
      this.begin();
    }
    this.mark(at);
    if (this.hadFocus !== undefined) {
      this.focus(this.hadFocus);
    }
    this.apply();
  }

  /** Marks the block of the text cursor and keeps it in view. */
  mark(id: string | undefined): void {
    this.at = id;
    for (const [each, group] of this.blocks) {
      group.classList.toggle('current', each === id);
      group.setAttribute('aria-current', String(each === id));
    }
    if (id !== undefined) {
      this.reveal(id);
      this.stop(id);
    }
  }

  private focused(): string | undefined {
    return [...this.blocks].find(([, group]) => group === document.activeElement)?.[0];
  }

  /** The one block that the tab key reaches. */
  private stop(id: string): void {
    this.blocks.forEach((group, each) => group.setAttribute('tabindex', each === id ? '0' : '-1'));
  }

  private focus(id: string): void {
    this.stop(id);
    this.blocks.get(id)?.focus({ preventScroll: true });
    this.reveal(id);
  }

  private block(box: Box, number: number): SVGElement {
    const rows = box.lines.map((line, n) => {
      const parts = coloured(line).map(([kind, text]) => {
        const part = svg('tspan', { class: kind });
        part.textContent = text;
        return part;
      });
      return svg('text', { x: box.x + 10, y: box.y + 22 + 16 * n }, ...parts);
    });
    const rect = svg('rect', { x: box.x, y: box.y, width: box.width, height: box.height, rx: 4 });
    const ring = svg('rect', { x: box.x - 4, y: box.y - 4, width: box.width + 8, height: box.height + 8, rx: 6, class: 'ring' });
    const leads = this.made.routes.filter((route) => route.from === box.id).map((route) => {
      const to = this.made.boxes.findIndex((other) => other.id === route.to) + 1;
      return `to block ${to}${route.label === '' ? '' : `, ${route.label}`}`;
    });
    const words = [`Block ${number + 1} of ${this.made.boxes.length}`, `line ${box.line + 1}`, ...leads, box.lines.join('; ')];
    const kind = `block${box.faint ? ' faint' : ''}${box.heat === undefined ? '' : ` heat-${box.heat}`}`;
    const group = svg('g', { class: kind, role: 'button', tabindex: number === 0 ? 0 : -1, 'aria-label': words.join(', ') }, ring, rect, ...rows);
    group.addEventListener('click', () => {
      this.stop(box.id);
      this.goTo(box.line);
    });
    group.addEventListener('focus', () => this.stop(box.id));
    return group;
  }

  private listen(): void {
    this.frame.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY);
    });
    this.frame.addEventListener('pointermove', (event) => {
      if (event.buttons === 1) {
        this.touched = true;
        this.view.x -= event.movementX / this.view.scale;
        this.view.y -= event.movementY / this.view.scale;
        this.apply();
      }
    });
    this.frame.addEventListener('keydown', (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
  }

  /** Whether a key meant something. */
  private key(key: string): boolean {
    const from = this.focused() ?? this.at ?? this.made.boxes[0]!.id;
    const box = this.made.boxes.find((one) => one.id === from)!;
    const work: Record<string, () => void> = {
      '+': () => this.zoom(STEP),
      '=': () => this.zoom(STEP),
      '-': () => this.zoom(1 / STEP),
      '0': () => this.zoomTo(1),
      f: () => this.fit(),
      F: () => this.fit(),
      Enter: () => this.goTo(box.line),
      ' ': () => this.goTo(box.line),
    };
    if (work[key] !== undefined) {
      work[key]();
      return true;
    }
    const target = moved(this.made, from, key);
    if (target !== undefined) {
      this.focus(target);
    }
    return target !== undefined || /^(Arrow|Home|End)/.test(key);
  }

  /** As wide as the frame, unless that makes the text too small to read. */
  private begin(): void {
    this.view.scale = Math.min(1.1, Math.max(0.7, this.frame.clientWidth / this.made.width));
    this.view.x = (this.made.width - this.frame.clientWidth / this.view.scale) / 2;
    this.view.y = 0;
    if (this.at !== undefined) {
      this.reveal(this.at);
    }
  }

  private fit(): void {
    this.touched = true;
    const { clientWidth, clientHeight } = this.frame;
    this.view.scale = within(Math.min(1.1, clientWidth / this.made.width, clientHeight / this.made.height));
    this.view.x = (this.made.width - clientWidth / this.view.scale) / 2;
    this.view.y = (this.made.height - clientHeight / this.view.scale) / 2;
    this.apply();
  }

  private zoomTo(scale: number): void {
    this.zoom(scale / this.view.scale);
  }

  /** Zooms about a point of the frame, else about the block that has the focus, else about the middle. */
  private zoom(factor: number, x?: number, y?: number): void {
    this.touched = true;
    const { view } = this;
    const box = this.made.boxes.find((one) => one.id === this.focused());
    const px = x ?? (box ? (box.x + box.width / 2 - view.x) * view.scale : this.frame.clientWidth / 2);
    const py = y ?? (box ? (box.y + box.height / 2 - view.y) * view.scale : this.frame.clientHeight / 2);
    const scale = within(view.scale * factor);
    view.x += px / view.scale - px / scale;
    view.y += py / view.scale - py / scale;
    view.scale = scale;
    this.apply();
  }

  /** Moves as little as brings a block into view; of one that is too large its beginning. */
  private reveal(id: string): void {
    const box = this.made.boxes.find((one) => one.id === id);
    if (box === undefined || this.frame.clientWidth === 0) {
      return;
    }
    const { view } = this;
    const margin = MARGIN / view.scale;
    const [width, height] = [this.frame.clientWidth / view.scale, this.frame.clientHeight / view.scale];
    view.x = Math.min(Math.max(view.x, box.x + box.width + margin - width), box.x - margin);
    view.y = Math.min(Math.max(view.y, box.y + box.height + margin - height), box.y - margin);
    this.apply();
  }

  private apply(): void {
    const { x, y, scale } = this.view;
    this.drawing.setAttribute('viewBox', `${x} ${y} ${this.frame.clientWidth / scale} ${this.frame.clientHeight / scale}`);
    this.percent.textContent = `${Math.round(scale * 100)} %`;
  }
}

function within(scale: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, scale));
}

function named(made: HTMLElement, name: string): HTMLElement {
  made.setAttribute('aria-label', name);
  return made;
}

const KINDS = ['fall', 'branch', 'back', 'call'];

/** The heads of the arrows, one in the colour of each kind of edge. */
function tips(): SVGElement {
  const size = { viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto' };
  return svg('defs', {}, ...KINDS.map((kind) => svg('marker', { id: `tip-${kind}`, ...size }, svg('path', { d: 'M0,0 L8,4 L0,8 z', class: `tip ${kind}` }))));
}

function kindOf(route: Route): string {
  return route.back ? 'back' : KINDS.includes(route.kind) ? route.kind : 'fall';
}

function arrow(route: Route): SVGElement {
  const kind = kindOf(route);
  return svg('path', { d: pathOf(route.points), class: `edge ${kind}`, 'marker-end': `url(#tip-${kind})` });
}

function label(route: Route): SVGElement {
  const text = svg('text', { x: route.labelAt[0], y: route.labelAt[1], class: `label ${kindOf(route)}`, 'aria-hidden': 'true' });
  text.textContent = route.label;
  return text;
}

/** Straight down and then a curve, or a way along corners that are rounded. */
function pathOf(points: [number, number][]): string {
  const [start, via, end] = [points[0]!, points[1]!, points.at(-1)!];
  if (points.length === 3) {
    const middle = (via[1] + end[1]) / 2;
    return `M${start[0]},${start[1]} L${via[0]},${via[1]} C${via[0]},${middle} ${end[0]},${middle} ${end[0]},${end[1]}`;
  }
  let path = `M${start[0]},${start[1]}`;
  for (let n = 1; n < points.length - 1; n++) {
    const [before, at, after] = [points[n - 1]!, points[n]!, points[n + 1]!];
    const [from, to] = [toward(at, before), toward(at, after)];
    path += ` L${from[0]},${from[1]} Q${at[0]},${at[1]} ${to[0]},${to[1]}`;
  }
  return `${path} L${end[0]},${end[1]}`;
}

function toward(at: [number, number], other: [number, number]): [number, number] {
  const distance = Math.hypot(other[0] - at[0], other[1] - at[1]);
  const part = distance === 0 ? 0 : Math.min(8, distance / 2) / distance;
  return [at[0] + (other[0] - at[0]) * part, at[1] + (other[1] - at[1]) * part];
}
