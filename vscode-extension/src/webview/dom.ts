// Small helpers of the pages: elements without HTML text, and the way back to the extension.

interface Host {
  postMessage(message: unknown): void;
}

declare function acquireVsCodeApi(): Host;

export const host: Host = acquireVsCodeApi();

type Child = Element | string | undefined;

export function element(tag: string, className = '', ...children: Child[]): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Element[]): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

export function button(text: string, title: string, work: () => void): HTMLElement {
  const made = element('button', '', text);
  made.title = title;
  made.addEventListener('click', work);
  return made;
}

export function select<T extends string>(options: readonly T[], chosen: T, title: string, work: (value: T) => void): HTMLElement {
  const made = document.createElement('select');
  made.title = title;
  made.ariaLabel = title;
  for (const option of options) {
    made.add(new Option(option, option, option === chosen, option === chosen));
  }
  made.addEventListener('change', () => work(made.value as T));
  return made;
}

export function checkbox(text: string, work: (checked: boolean) => void): HTMLElement {
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.addEventListener('change', () => work(box.checked));
  return element('label', '', box, ` ${text}`);
}

/** What is folded until it is asked for; undefined where it has nothing in it. */
export function folded(title: string, children: HTMLElement[]): HTMLElement | undefined {
  return children.length === 0 ? undefined : element('details', '', element('summary', '', title), ...children);
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((child) => child !== undefined));
}

/** The page's main element, filled anew at each message of the extension. */
export function listen<T>(show: (main: HTMLElement, value: T) => void): void {
  const main = document.querySelector('main')!;
  window.addEventListener('message', (event: MessageEvent<T | { colours: Record<string, string> }>) => {
    const { data } = event;
    if (typeof data === 'object' && data !== null && 'colours' in data) {
      paint(data.colours);
    } else {
      show(main, data);
    }
  });
  host.postMessage({ kind: 'ready' });
}

let painted: string[] = [];

/** The theme's colours for code, as variables of the style sheet. */
function paint(colours: Record<string, string>): void {
  const { style } = document.documentElement;
  painted.forEach((name) => style.removeProperty(name));
  painted = Object.keys(colours).map((kind) => `--visa-${kind}`);
  Object.entries(colours).forEach(([kind, colour]) => style.setProperty(`--visa-${kind}`, colour));
}
