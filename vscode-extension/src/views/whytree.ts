// The answer of the server's command `visa.why` as a tree: what its entries say, and which ones are below which.

export interface WhyNode {
  id: number;
  kind: string; // instruction, missing, input, memory, undefined, earlier
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

/** The entries at the top: the first differences from a reference, else the writes of the value. */
export function rootsOf(answer: WhyAnswer): Entry[] {
  const firsts = answer.nodes.filter((node) => node.first_difference === true);
  const starts = answer.nodes.filter((node) => node.distance === 0 && node.first_difference !== true);
  const roots = [...firsts, ...starts];
  return (roots.length > 0 ? roots : answer.nodes.slice(0, 1)).map((node) => ({ node, above: [], races: false }));
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

/** The value in question in words. */
export function titleOf(answer: WhyAnswer): string {
  const now = answer.now === undefined || answer.now === null ? '' : ` = ${String(answer.now)}`;
  const expected = answer.expected === undefined ? '' : `, expected ${String(answer.expected)}`;
  return `${answer.value}${now}${expected}`;
}
