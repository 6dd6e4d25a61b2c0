// The figures of `visa.stats` as views need them. Pure functions, no editor, no page; lines count from 1.

export interface Stats {
  ok: boolean;
  error?: string;
  edited?: boolean; // ended by an edit: another one is asked for
  kernels?: KernelFigures[];
}

export interface KernelFigures {
  name: string;
  grf_bytes: number;
  instructions: number;
  pressure: { max: number; line: number | null };
  lines: LineFigures[];
  lives?: Life[];
}

export interface LineFigures {
  line: number;
  pressure: number;
  loop_depth: number;
}

/** A variable: the GRF rows that it takes, and the runs of lines where it does. */
export interface Life {
  name: string;
  aliases: string[];
  takes: number;
  runs: [first: number, last: number][];
}

/** Lines next to each other as one point of a curve: the most that they take, and where. */
export interface Point {
  first: number;
  last: number;
  line: number;
  pressure: number;
  depth: number; // of the line that takes the most
}

/** The kernel of a line: declarations belong to the one behind them, what stands below all of them to the last. */
export function kernelAt(kernels: KernelFigures[], line: number): KernelFigures | undefined {
  const known = kernels.filter((kernel) => kernel.lines.length > 0);
  return known.find((kernel) => line <= kernel.lines.at(-1)!.line) ?? known.at(-1);
}

/** The figures of a line, else of the instruction before it, else of the first one. */
export function figuresAt(kernel: KernelFigures, line: number): LineFigures {
  let [low, high] = [0, kernel.lines.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (kernel.lines[middle]!.line <= line) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return kernel.lines[low]!;
}

/** The variables that are live behind a line, the largest first. */
export function liveAt(kernel: KernelFigures, line: number): Life[] {
  const live = (kernel.lives ?? []).filter(({ runs }) => runs.some(([first, last]) => first <= line && line <= last));
  return live.sort((a, b) => b.takes - a.takes || a.runs[0]![0] - b.runs[0]![0]);
}

/** The variable of a name, its own or that of an alias. */
export function lifeNamed(kernel: KernelFigures, name: string): Life | undefined {
  return (kernel.lives ?? []).find((life) => life.name === name || life.aliases.includes(name));
}

/** The lines of a kernel as at most so many points. */
export function points(lines: LineFigures[], most: number): Point[] {
  const each = Math.max(1, Math.ceil(lines.length / most));
  const found: Point[] = [];
  for (let at = 0; at < lines.length; at += each) {
    const part = lines.slice(at, at + each);
    const { line, pressure, loop_depth: depth } = part.reduce((a, b) => (b.pressure > a.pressure ? b : a));
    found.push({ first: part[0]!.line, last: part.at(-1)!.line, line, pressure, depth });
  }
  return found;
}

/** Points next to each other, by number, that are in as many loops, if in any. */
export function loops(all: Point[]): { first: number; last: number; depth: number }[] {
  const found: { first: number; last: number; depth: number }[] = [];
  all.forEach(({ depth }, n) => {
    const before = found.at(-1);
    if (before?.last === n - 1 && before.depth === depth) {
      before.last = n;
    } else if (depth > 0) {
      found.push({ first: n, last: n, depth });
    }
  });
  return found;
}

/** Round numbers from 0 to one that is not below the highest, some four steps. */
export function ticks(highest: number): number[] {
  const rough = Math.max(1, highest / 4);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough)!;
  return Array.from({ length: Math.max(1, Math.ceil(highest / step)) + 1 }, (_, n) => n * step);
}

/** A variable's lines in words: `lines 3 to 9, 12`. */
export function runWords(runs: [number, number][], most = 4): string {
  const parts = runs.slice(0, most).map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
  const more = runs.length > most ? ` and ${runs.length - most} more` : '';
  return `${runs.length === 1 && runs[0]![0] === runs[0]![1] ? 'line' : 'lines'} ${parts.join(', ')}${more}`;
}

export function rowWords(rows: number): string {
  const number = Number.isInteger(rows) ? `${rows}` : rows.toPrecision(2);
  return `${number} ${rows === 1 ? 'row' : 'rows'}`;
}
