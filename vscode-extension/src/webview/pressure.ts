// The page of register pressure: the curve over the lines, with loops behind it and the peak marked, and the list of what is
// live behind the line that is looked at. A click, or Enter, goes to the text.

import { loops, ticks } from '../performance/figures.ts';
import type { Look, ShownPressure } from '../performance/pressure.ts';
import { button, element, fill, host, listen, svg } from './dom.ts';

const REGISTERS = 128; // rows that a thread has, but in large-GRF mode
const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [34, 12, 22, 26, 240];
const HELP = 'Left and right go from line to line, page keys by a tenth, Home and End to the ends, P to the peak, Enter to the text.';

let curve: Curve | undefined;

class Curve {
  readonly frame = element('div', 'curve');
  private readonly shown: ShownPressure;
  private look: Look | undefined;
  private marked: ShownPressure['marked'];
  private width = 600;

  constructor(shown: ShownPressure, hadFocus: boolean) {
    this.shown = shown;
    this.look = shown.look;
    this.marked = shown.marked;
    this.frame.tabIndex = 0;
    this.frame.role = 'slider';
    this.frame.ariaLabel = `Register pressure of ${shown.name}, in GRF rows by line. ${HELP}`;
    this.frame.ariaValueMin = String(shown.points[0]!.first);
    this.frame.ariaValueMax = String(shown.points.at(-1)!.last);
    this.frame.addEventListener('click', (event) => this.goTo(this.lineAt(event)));
    this.frame.addEventListener('keydown', (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    new ResizeObserver(() => {
      this.width = Math.max(200, this.frame.clientWidth);
      this.draw();
    }).observe(this.frame);
    if (hadFocus) {
      setTimeout(() => this.frame.focus());
    }
  }

  at(look: Look | undefined): void {
    this.look = look;
    this.draw();
  }

  mark(marked: ShownPressure['marked']): void {
    this.marked = marked;
    this.draw();
  }

  private goTo(line: number): void {
    host.postMessage({ kind: 'line', line });
  }

  /** Whether a key meant something. */
  private key(key: string): boolean {
    const { points, peak } = this.shown;
    const at = Math.max(0, this.index(this.look?.line ?? peak));
    const far = Math.max(1, Math.round(points.length / 10));
    const to: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at - 1,
      ArrowUp: at + 1,
      PageUp: at - far,
      PageDown: at + far,
      Home: 0,
      End: points.length - 1,
      p: this.index(peak),
      P: this.index(peak),
    };
    if (key === 'Enter' || key === ' ') {
      this.goTo(this.look?.line ?? peak);
      return true;
    }
    if (to[key] === undefined) {
      return false;
    }
    const point = points[Math.min(points.length - 1, Math.max(0, to[key]))]!;
    host.postMessage({ kind: 'look', line: point.line });
    return true;
  }

  /** The point of a line: the last one that begins at or before it. */
  private index(line: number): number {
    return this.shown.points.findLastIndex(({ first }) => first <= line);
  }

  private lineAt(event: MouseEvent): number {
    const { points } = this.shown;
    const across = (event.clientX - this.frame.getBoundingClientRect().left - LEFT) / this.step();
    return points[Math.min(points.length - 1, Math.max(0, Math.floor(across)))]!.line;
  }

  private step(): number {
    return (this.width - LEFT - RIGHT) / this.shown.points.length;
  }

  private draw(): void {
    const { points, max, peak } = this.shown;
    const marks = ticks(max);
    const [step, top] = [this.step(), marks.at(-1)!];
    const x = (n: number): number => LEFT + n * step;
    const y = (rows: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - rows / top);
    const parts: SVGElement[] = [];
    for (const { first, last, depth } of loops(points)) {
      parts.push(svg('rect', { class: 'loop', x: x(first), y: TOP, width: (last + 1 - first) * step, height: y(0) - TOP, 'fill-opacity': Math.min(0.36, 0.12 * depth) }));
    }
    for (const rows of marks) {
      parts.push(svg('line', { class: 'grid', x1: LEFT, x2: this.width - RIGHT, y1: y(rows), y2: y(rows) }), text(String(rows), LEFT - 6, y(rows) + 4, 'end'));
    }
    const way = points.map(({ pressure }, n) => `H${x(n)}V${y(pressure)}H${x(n + 1)}`).join('');
    parts.push(svg('path', { class: 'area', d: `M${LEFT} ${y(0)}${way}V${y(0)}Z` }), svg('path', { class: 'rows', d: `M${LEFT} ${y(points[0]!.pressure)}${way}` }));
    if (top >= REGISTERS) {
      parts.push(svg('line', { class: 'limit', x1: LEFT, x2: this.width - RIGHT, y1: y(REGISTERS), y2: y(REGISTERS) }));
      parts.push(text(`${REGISTERS} rows: all that a thread has`, LEFT + 6, y(REGISTERS) - 4, 'start'));
    }
    for (const [first, last] of this.marked?.runs ?? []) {
      const from = Math.max(0, this.index(first));
      parts.push(svg('rect', { class: 'life', x: x(from), y: y(0) + 3, width: Math.max(2, x(this.index(last) + 1) - x(from)), height: 5 }));
    }
    const [highest, now] = [this.index(peak), this.look && this.index(this.look.line)];
    if (now !== undefined) {
      parts.push(svg('line', { class: 'now', x1: x(now + 0.5), x2: x(now + 0.5), y1: TOP, y2: y(0) }));
    }
    parts.push(svg('circle', { class: 'peak', cx: x(highest + 0.5), cy: y(max), r: 4.5 }));
    const anchor = highest < points.length / 4 ? 'start' : highest > (3 * points.length) / 4 ? 'end' : 'middle';
    parts.push(text(`peak: ${max} rows, line ${peak}`, x(highest + 0.5), y(max) - 9, anchor));
    parts.push(text(`line ${points[0]!.first}`, LEFT, HEIGHT - 6, 'start'), text(`line ${points.at(-1)!.last}`, this.width - RIGHT, HEIGHT - 6, 'end'));
    this.frame.replaceChildren(svg('svg', { width: this.width, height: HEIGHT, 'aria-hidden': 'true' }, ...parts));
    if (this.look !== undefined) {
      this.frame.ariaValueNow = String(this.look.line);
      this.frame.ariaValueText = words(this.look);
    }
  }
}

function text(content: string, x: number, y: number, anchor: string): SVGElement {
  const made = svg('text', { x, y, 'text-anchor': anchor });
  made.textContent = content;
  return made;
}

function words({ line, pressure, depth }: Look): string {
  return `line ${line}: ${pressure} ${pressure === 1 ? 'row' : 'rows'}${depth === 0 ? '' : `, loop depth ${depth}`}`;
}

function liveList(look: Look | undefined, marked: ShownPressure['marked']): HTMLElement[] {
  if (look === undefined) {
    return [];
  }
  const rows = look.live.map(({ name, takes, runs }) => {
    const link = button(name, `Mark the lines where ${name} is live`, () => host.postMessage({ kind: 'variable', name }));
    link.className = 'link';
    link.ariaPressed = String(name === marked?.name);
    const row = element('tr', name === marked?.name ? 'marked' : '', element('th', '', link), element('td', 'number', takes), element('td', '', runs));
    return row;
  });
  const none = rows.length === 0 ? element('p', 'facts', 'No general variable.') : undefined;
  const more = look.more === 0 ? undefined : element('p', 'facts', `and ${look.more} more`);
  const parts = [element('h2', '', `Live behind ${words(look)}`), none, rows.length === 0 ? undefined : element('table', 'parts', ...rows), more];
  return parts.filter((part) => part !== undefined);
}

let look: Look | undefined;
let marked: ShownPressure['marked'];
const list = element('section', '');
list.ariaLive = 'polite';

listen<ShownPressure | { look: Look } | { marked: ShownPressure['marked'] | null } | undefined>((main, shown) => {
  if (shown === undefined) {
    return;
  }
  if ('title' in shown) {
    [look, marked] = [shown.look, shown.marked];
    const name = shown.error === '' ? `${shown.name}: up to ${shown.max} GRF rows of ${shown.rowBytes} bytes` : '';
    const toPeak = shown.error === '' ? button('Go to Peak', `Go to line ${shown.peak}`, () => host.postMessage({ kind: 'line', line: shown.peak })) : undefined;
    const head = element('div', 'bar', element('h3', '', shown.title), element('span', 'facts', name), toPeak);
    curve = shown.points.length > 0 ? new Curve(shown, document.activeElement === curve?.frame) : undefined;
    fill(main, head, curve?.frame ?? element('p', 'bad', shown.error), list);
  } else if ('look' in shown) {
    look = shown.look;
    curve?.at(look);
  } else {
    marked = shown.marked ?? undefined;
    curve?.mark(marked);
  }
  const focused = document.activeElement instanceof HTMLElement && list.contains(document.activeElement) ? document.activeElement.textContent : undefined;
  fill(list, ...liveList(look, marked));
  if (focused !== undefined) {
    [...list.querySelectorAll('button')].find((one) => one.textContent === focused)?.focus();
  }
});
