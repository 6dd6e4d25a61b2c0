// Control-flow graphs laid out in layers from top to bottom. Pure functions, no editor, no page.
//
// Layers are the longest way from an entry without the edges that go back (found by a depth-first walk); the order
// inside a layer follows the neighbours' mean place. Edges that go back, or skip layers, take a lane at the side.
// Below a layer there is room for the labels of the edges that leave it, then for those that turn to a lane: a label stands
// beside its edge and on no block.

export interface Node {
  id: string;
  lines: string[];
  line: number; // of the text, from 0
  faint: boolean; // nothing leads there
  heat?: number | undefined; // 1 to 5, after a run with profile
}

export interface Edge {
  from: string;
  to: string;
  label: string;
  kind: string; // fall, branch, back, call, ...
}

export interface Graph {
  name: string;
  nodes: Node[];
  edges: Edge[];
}

export interface Box extends Node {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Route extends Edge {
  points: [number, number][];
  back: boolean;
  labelAt: [number, number]; // where the base line of its label begins
}

export interface Layout {
  boxes: Box[];
  routes: Route[];
  width: number;
  height: number;
}

const CHAR = 7.3;
const LINE = 16;
const PAD = 10;
const GAP_X = 36;
const GAP_Y = 48;
const LANE = 14;
const TURN = 6; // between edges that run to and from lanes
const LABEL_CHAR = 6.7;
const LABEL_LINE = 15;
const LABEL_GAP = 5; // between an edge and its label

export function layout(graph: Graph): Layout {
  const ids = new Map(graph.nodes.map((node, n) => [node.id, n]));
  const edges = graph.edges.filter((edge) => ids.has(edge.from) && ids.has(edge.to));
  const pairs = edges.map((edge): [number, number] => [ids.get(edge.from)!, ids.get(edge.to)!]);
  const back = backEdges(graph.nodes.length, pairs);
  const rank = ranks(graph.nodes.length, pairs, back);
  const layers = ordered(graph.nodes.length, pairs, rank);
  const boxes: Box[] = graph.nodes.map((node) => ({
    ...node,
    x: 0,
    y: 0,
    width: Math.max(60, 2 * PAD + CHAR * Math.max(...node.lines.map((line) => line.length))),
    height: 2 * PAD + LINE * node.lines.length,
  }));
  const widest = Math.max(...layers.map((layer) => rowWidth(layer, boxes)));
  for (const layer of layers) {
    let x = PAD + (widest - rowWidth(layer, boxes)) / 2;
    for (const n of layer) {
      boxes[n]!.x = x;
      x += boxes[n]!.width + GAP_X;
    }
  }
  const out = portsOf(pairs, 0, boxes);
  const into = portsOf(pairs, 1, boxes);
  const placed = labelPlaces(edges, pairs, rank, out);
  const rows = placed.map(({ row }) => row);
  const direct = pairs.map(([a, b], n) => !back[n] && rank[b] === rank[a]! + 1);
  const turns = layers.map((_, r) => ({
    out: edges.flatMap((_edge, n) => (!direct[n] && rank[pairs[n]![0]] === r ? [n] : [])),
    into: edges.flatMap((_edge, n) => (!direct[n] && rank[pairs[n]![1]] === r ? [n] : [])),
  }));
  const bottoms: number[] = [];
  const labels = layers.map((_, r) => LABEL_LINE * (1 + Math.max(-1, ...rows.filter((_row, n) => rank[pairs[n]![0]] === r))));
  let y = PAD + GAP_Y / 2 + TURN * turns[0]!.into.length;
  layers.forEach((layer, r) => {
    layer.forEach((n) => (boxes[n]!.y = y));
    bottoms.push(y + Math.max(...layer.map((n) => boxes[n]!.height)));
    y = bottoms[r]! + labels[r]! + GAP_Y + TURN * (turns[r]!.out.length + (turns[r + 1]?.into.length ?? 0));
  });
  const sides = { left: 0, right: 0 };
  const leftmost = Math.min(...boxes.map((box) => box.x));
  const routes = edges.map((edge, n): Route => {
    const [a, b] = pairs[n]!;
    const from: [number, number] = [out[n]!, boxes[a]!.y + boxes[a]!.height];
    const to: [number, number] = [into[n]!, boxes[b]!.y];
    const bottom = bottoms[rank[a]!]!;
    const below = bottom + labels[rank[a]!]! + LABEL_GAP; // straight down past the layer and its labels
    const labelAt: [number, number] = [placed[n]!.x, bottom + LABEL_LINE * (rows[n]! + 1)];
    if (direct[n]) {
      return { ...edge, back: false, points: [from, [from[0], below], to], labelAt };
    }
    // Back edges take the left side, those that skip layers the right one; each has a lane of its own.
    const lane = back[n] ? leftmost - LANE * ++sides.left : PAD + widest + LANE * ++sides.right;
    const down = below + TURN * (turns[rank[a]!]!.out.indexOf(n) + 1);
    const above = to[1] - GAP_Y / 3 - TURN * turns[rank[b]!]!.into.indexOf(n);
    return { ...edge, back: back[n]!, points: [from, [from[0], down], [lane, down], [lane, above], [to[0], above], to], labelAt };
  });
  return moved(boxes, routes, y - GAP_Y / 2 + PAD);
}

/** The room that a label takes across. */
export function labelWidth(label: string): number {
  return LABEL_CHAR * label.length;
}

/**
 * Where the label of each edge begins, and its row below the layer (-1: it has no label). It stands to the right of its edge,
 * to the left where it would stand on another edge; labels of one row keep apart.
 */
function labelPlaces(edges: Edge[], pairs: [number, number][], rank: number[], out: number[]): { x: number; row: number }[] {
  const places = out.map((x) => ({ x: x + LABEL_GAP, row: -1 }));
  const taken = new Map<string, [number, number][]>();
  const order = edges.map((_, n) => n).sort((a, b) => out[a]! - out[b]!);
  for (const n of order.filter((e) => edges[e]!.label !== '')) {
    const layer = rank[pairs[n]![0]]!;
    const width = labelWidth(edges[n]!.label);
    const free = (left: number): boolean =>
      order.every((e) => e === n || rank[pairs[e]![0]] !== layer || out[e]! < left - 1 || out[e]! > left + width + 1);
    const [right, left] = [out[n]! + LABEL_GAP, out[n]! - LABEL_GAP - width];
    const x = free(right) || !free(left) ? right : left;
    const span: [number, number] = [x, x + width + LABEL_GAP];
    let row = 0;
    while (taken.get(`${layer} ${row}`)?.some(([from, to]) => span[0] < to && from < span[1])) {
      row++;
    }
    taken.set(`${layer} ${row}`, [...(taken.get(`${layer} ${row}`) ?? []), span]);
    places[n] = { x, row };
  }
  return places;
}

function rowWidth(layer: number[], boxes: Box[]): number {
  return layer.reduce((sum, n) => sum + boxes[n]!.width, GAP_X * (layer.length - 1));
}

/** Where each edge leaves (side 0) or enters (side 1) its box: spread along the edge of the box. */
function portsOf(pairs: [number, number][], side: 0 | 1, boxes: Box[]): number[] {
  const ports = new Array<number>(pairs.length).fill(0);
  boxes.forEach((box, n) => {
    const mine = pairs.flatMap((pair, e) => (pair[side] === n ? [e] : []));
    mine.sort((a, b) => boxes[pairs[a]![1 - side]!]!.x - boxes[pairs[b]![1 - side]!]!.x);
    mine.forEach((e, k) => (ports[e] = box.x + (box.width * (k + 1)) / (mine.length + 1)));
  });
  return ports;
}

function moved(boxes: Box[], routes: Route[], height: number): Layout {
  const xs = [
    ...boxes.map((box) => box.x),
    ...routes.flatMap((route) => [route.labelAt[0], ...route.points.map(([x]) => x)]),
  ];
  const shift = PAD - Math.min(...xs);
  boxes.forEach((box) => (box.x += shift));
  routes.forEach((route) => route.points.forEach((point) => (point[0] += shift)));
  routes.forEach((route) => (route.labelAt[0] += shift));
  const right = [
    ...boxes.map((box) => box.x + box.width),
    ...routes.flatMap((r) => r.points.map(([x]) => x)),
    ...routes.map((r) => r.labelAt[0] + labelWidth(r.label)),
  ];
  return { boxes, routes, width: Math.max(...right) + PAD, height };
}

function backEdges(count: number, pairs: [number, number][]): boolean[] {
  const out: number[][] = Array.from({ length: count }, () => []);
  pairs.forEach(([a], n) => out[a]!.push(n));
  const state = new Uint8Array(count); // 0 new, 1 on the way, 2 done
  const back = pairs.map(() => false);
  for (let root = 0; root < count; root++) {
    const stack: [number, number][] = state[root] === 0 ? [[root, 0]] : [];
    state[root] ||= 1;
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const edge = out[top[0]]![top[1]++];
      if (edge === undefined) {
        state[top[0]] = 2;
        stack.pop();
        continue;
      }
      const target = pairs[edge]![1];
      if (state[target] === 1) {
        back[edge] = true;
      } else if (state[target] === 0) {
        state[target] = 1;
        stack.push([target, 0]);
      }
    }
  }
  return back;
}

function ranks(count: number, pairs: [number, number][], back: boolean[]): number[] {
  const rank = new Array<number>(count).fill(0);
  const waiting = new Array<number>(count).fill(0);
  const forward = pairs.filter((_, n) => !back[n]);
  forward.forEach(([, b]) => waiting[b]!++);
  const ready = waiting.flatMap((n, node) => (n === 0 ? [node] : []));
  for (let a = ready.pop(); a !== undefined; a = ready.pop()) {
    for (const [from, to] of forward) {
      if (from === a) {
        rank[to] = Math.max(rank[to]!, rank[a]! + 1);
        if (--waiting[to]! === 0) {
          ready.push(to);
        }
      }
    }
  }
  return rank;
}

function ordered(count: number, pairs: [number, number][], rank: number[]): number[][] {
  const layers: number[][] = Array.from({ length: Math.max(0, ...rank) + 1 }, () => []);
  for (let n = 0; n < count; n++) {
    layers[rank[n]!]!.push(n);
  }
  const place = new Array<number>(count).fill(0);
  const number = (layer: number[]): void => layer.forEach((n, k) => (place[n] = k - layer.length / 2));
  layers.forEach(number);
  for (let round = 0; round < 4; round++) {
    for (const layer of round % 2 === 0 ? layers : [...layers].reverse()) {
      const mean = new Map(
        layer.map((n) => {
          const near = pairs.flatMap(([a, b]) => (a === n ? [b] : b === n ? [a] : []));
          return [n, near.length === 0 ? place[n]! : near.reduce((sum, m) => sum + place[m]!, 0) / near.length];
        }),
      );
      layer.sort((a, b) => mean.get(a)! - mean.get(b)! || a - b);
      number(layer);
    }
  }
  return layers;
}
