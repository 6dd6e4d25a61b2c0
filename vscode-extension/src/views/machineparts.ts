// What the view of machine code and its page tell each other, and the words for what went wrong. No editor.

/** A line of a column: `v` is the line of the text that it belongs to, `s` that of the source, both from 1. */
export interface ColumnLine {
  number: string;
  parts: [kind: string, text: string][];
  v?: number;
  s?: number;
  hue?: number;
  kind?: string;
  title?: string;
  bar?: { figure: number; percent: number; title: string };
}

/** The columns beside the editor. `ties` has the line of the source by that of the text, `living` variables by GRF register. */
export interface Columns {
  source: { name: string; path: string; lines: ColumnLine[]; ties: Record<string, number> } | null;
  gen: { head: string; living: Record<string, string>; lines: ColumnLine[] }[];
}

export interface Finding {
  line: number;
  severity: string;
  code: string;
  name: string;
  message: string;
}

export type ToMachinePage =
  | { kind: 'result'; name: string; platform: string; columns: Columns | undefined }
  | { kind: 'state'; working: boolean; stale: boolean; problem: string; advice: string; settings: boolean; findings: Finding[] }
  | { kind: 'cursor'; v: number | undefined };

export type FromMachinePage =
  | { kind: 'ready' | 'again' | 'settings' | 'save' }
  | { kind: 'chosen'; lines: number[] }
  | { kind: 'open'; v?: number; s?: number };

/** What to do where there is no machine code, and whether settings can help; by the rule of what the finalizer says. */
export function advice(missing: boolean, untrusted: boolean, rule: string | undefined): { advice: string; settings: boolean } {
  if (untrusted) {
    return { advice: 'Trust the folder (Workspaces: Manage Workspace Trust); the finalizer is then called.', settings: false };
  }
  if (missing) {
    return { advice: 'The program is named in the setting visa.finalizer where it is not on PATH.', settings: true };
  }
  if (rule === 'finalizer-failure') {
    const words = 'This is the finalizer’s own fault: the text may be right. Undo the last edit, or try another platform, other options, or another release of the finalizer.';
    return { advice: words, settings: true };
  }
  return { advice: '', settings: false };
}

/** The number of a GRF register, as Gen writes it; undefined for any other. */
export function rowOf(register: string): string | undefined {
  return /^r(\d{1,4})(?:\.\d{1,4})?$/.exec(register)?.[1];
}

/** What is told of the registers in a line: `r5 index · r12 V45, V67`. */
export function livingIn(line: ColumnLine, living: Record<string, string>): string {
  const rows = line.parts.flatMap(([kind, text]) => (kind === 'reg' ? (rowOf(text) ?? []) : []));
  return [...new Set(rows)].filter((row) => living[row] !== undefined).map((row) => `r${row} ${living[row]}`).join(' · ');
}
