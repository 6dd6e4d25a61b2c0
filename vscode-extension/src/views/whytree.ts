// The answer of the server's command `visa.why` as a tree: what its entries say, and which ones are below which.

import type { Report } from '../run/report.ts';

/** An element of a buffer, or the number of a fault; without both the first failure of the run. */
export interface WhyQuestion {
  value?: string;
  fault?: number;
  launch?: string | undefined;
  launchText?: string | undefined;
}

export interface NamedBuffer {
  name: string;
  arg?: number | string;
  index?: number;
  shape?: number[];
}

/** What can be asked, as a list has it. */
export interface Offer {
  label: string;
  description: string;
  question: WhyQuestion;
}

export interface WhyNode {
  id: number;
  kind: string; // instruction, missing, input, memory, undefined, earlier; note of ours
  path: string | null;
  line: number | null; // from 1
  lane: number | null;
  thread: number | null;
  group: number[] | null;
  text: string;
  values: Record<string, unknown>;
  reads?: Record<string, unknown>;
  reference?: Record<string, unknown>;
  causes: number[];
  races?: number[];
  distance: number;
  times: number;
  first_difference?: boolean;
}

export interface WhyAnswer {
  ok: boolean;
  error?: string;
  value: string;
  now?: unknown;
  expected?: unknown;
  nodes: WhyNode[];
  more?: number;
  notes?: string[];
}

/** An entry: a node, and the ids of the entries above it, which are not shown again below. */
export interface Entry {
  node: WhyNode;
  above: readonly number[];
  races: boolean; // with the entry above
}

const NOTE = { kind: 'note', path: null, line: null, lane: null, thread: null, group: null, values: {}, causes: [], distance: 0, times: 1 };

/** The entries at the top: the first differences from a reference, the writes of the value, what is to be said of all. */
export function rootsOf(answer: WhyAnswer): Entry[] {
  const firsts = answer.nodes.filter((node) => node.first_difference === true);
  const starts = answer.nodes.filter((node) => node.distance === 0 && node.first_difference !== true);
  const roots = [...firsts, ...starts];
  const notes = (answer.notes ?? []).map((text, n): WhyNode => ({ ...NOTE, id: -1 - n, text }));
  return [...(roots.length > 0 ? roots : answer.nodes.slice(0, 1)), ...notes].map((node) => ({ node, above: [], races: false }));
}

/** The entries below one: its causes, then the other parties of its races. */
export function below(answer: WhyAnswer, { node, above }: Entry): Entry[] {
  const path = [...above, node.id];
  const entries = (ids: number[], races: boolean): Entry[] =>
    ids
      .filter((id) => !path.includes(id))
      .flatMap((id) => answer.nodes.find((other) => other.id === id) ?? [])
      .map((other) => ({ node: other, above: path, races }));
  return [...entries(node.causes, false), ...entries(node.races ?? [], true)];
}

/** What stands behind the instruction: its line, who executed it, what it wrote. */
export function detailOf({ node, races }: Entry): string {
  const lane = node.lane === null ? '' : `lane ${node.lane}`;
  const times = node.times > 1 ? `${node.times} times` : '';
  const parts = [races ? 'races' : '', node.line === null ? '' : `line ${node.line}`, party(node), lane, times, valuesOf(node.values)];
  return parts.filter((part) => part !== '').join(' · ');
}

function party(node: WhyNode): string {
  return node.group === null ? '' : `group ${node.group.join(',')} thread ${node.thread}`;
}

export function valuesOf(values: Record<string, unknown>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${Array.isArray(value) ? `[${value.join(', ')}]` : String(value)}`)
    .join(', ');
}

/** All that is known of a node, a line for each. */
export function tooltipOf(node: WhyNode): string {
  const line = (word: string, values?: Record<string, unknown>): string[] =>
    values === undefined || Object.keys(values).length === 0 ? [] : [`${word}: ${valuesOf(values)}`];
  return [node.text, ...line('wrote', node.values), ...line('read', node.reads), ...line('reference', node.reference)].join('\n');
}

/** The value in question in words; of a fault without its place, which its entry tells. */
export function titleOf(answer: WhyAnswer): string {
  const now = answer.now === undefined || answer.now === null ? '' : ` = ${String(answer.now)}`;
  const expected = answer.expected === undefined ? '' : `, expected ${String(answer.expected)}`;
  return `${answer.value.replace(/ \([^()]*: group .*\)$/s, '')}${now}${expected}`;
}

/** What can be asked of a run: elements that differ, faults, then an element of each buffer. */
export function questionsOf(report: Report | undefined, buffers: NamedBuffer[]): Offer[] {
  const nameOf = (buffer: NamedBuffer): string => buffer.name || String(buffer.arg ?? buffer.index);
  const offers: Offer[] = [];
  const add = (name: string, at: number[], description: string): void => {
    const value = `${name}[${at.join(', ')}]`;
    offers.push({ label: value, description, question: { value } });
  };
  for (const { arg, differences } of report?.expectations ?? []) {
    const buffer = buffers.find((one) => one.arg === arg);
    for (const { at, got, expected } of differences?.first ?? []) {
      add(buffer === undefined ? String(arg) : nameOf(buffer), at, `got ${got}, expected ${expected}`);
    }
  }
  const faults = [...(report?.faults ?? []), ...(report?.findings ?? [])];
  faults.forEach(({ kind, message }, n) => offers.push({ label: `${kind} ${n + 1}`, description: message, question: { fault: n + 1 } }));
  for (const buffer of buffers) {
    const shape = buffer.shape ?? [];
    add(nameOf(buffer), shape.length === 0 ? [0] : shape.map(() => 0), shape.length === 0 ? 'any index' : `any of ${shape.join(' × ')}`);
  }
  return offers;
}
