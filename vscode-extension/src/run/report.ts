// What the server's command `visa.run` answers, as types.

import type { Profile } from '../performance/profile.ts';

/** An array: its NumPy type, its shape, its first values. */
export interface Values {
  dtype: string;
  shape: number[];
  head: (number | string)[];
  data?: string; // the values as base64; absent where there are too many
}

export interface Buffer extends Values {
  arg: number | string;
  name: string;
  title: string; // what it is called: `td (argument 3)`
  written: boolean; // the kernel has stored into it
  changed: boolean; // it holds other bytes than before
  image: ImageArgument | null;
  row?: number; // the length of a row, as the kernel indexes it
}

export interface ImageArgument {
  width: number;
  height: number;
  depth: number;
  channels: number;
}

export interface Expectation {
  arg: number | string;
  ok: boolean;
  message: string;
  // Where it does not hold:
  title?: string;
  expected?: Values;
  differences?: Differences | null; // null where size or type are others
}

export interface Differences {
  count: number;
  of: number;
  text: string; // the largest errors in words
  first: { at: number[]; got: number | string; expected: number | string }[];
  elements?: string; // a bit for each element as base64; absent where there are too many
}

export interface Fault {
  kind: string;
  message: string;
  kernel: string;
  group: number[];
  thread: number;
  lane: number | null;
  line: number | null;
  place: string; // `path:line`; empty where there is no text
  excerpt: string; // that line
  work_items?: string; // in words; empty where none are known
  source: string; // `path:line` of the source that the text was compiled from, and that line; empty where unknown
  source_excerpt: string;
  other: string | null; // the other party: a declaration, or another access
  other_place: string;
  other_excerpt: string;
  other_work_items?: string;
  other_source: string;
  other_source_excerpt: string;
  index?: string; // of the line in the source that computes the index of the element
  index_excerpt?: string;
  condition?: string; // of the branch in the source on which an access out of bounds depends
  condition_excerpt?: string;
  is_unguarded?: boolean; // no branch decides whether it is executed
  no_barrier?: { from: string; to: string }[]; // the ways between the places of a race in a group that no barrier stands on
  access?: string; // the element that is accessed, as an expression; of proofs
  other_access?: string;
  access_at?: string; // that element for the first work item
  other_access_at?: string;
  contents?: string; // what an address depends on besides ids, sizes and arguments; of proofs
}

/** A message that is recorded instead of carried out. */
export interface Sent {
  kind: string;
  reason: string;
  count: number;
  kernel: string;
  group: number[];
  thread: number;
  line: number | null;
  payload: { operand: string; bytes: number; head: string }[]; // of the first one; hexadecimal
  place: string;
}

export interface Report {
  launch?: string;
  launches?: { launch: string; ok: boolean }[]; // where several launch files ran; the report is of one of them
  ok: boolean;
  error?: string;
  launchMissing?: boolean;
  launchText?: string; // of a quick run: what it would be as a launch file
  source?: string | null;
  kernel?: string;
  platform?: string;
  engine?: string;
  buffers?: Buffer[];
  expectations?: Expectation[];
  faults?: Fault[];
  findings?: Fault[]; // what is no fault and yet worth a look
  messages?: Sent[];
  threads?: number;
  groups?: number;
  instructions?: number;
  profile?: Profile; // where it was asked for
  printed?: string;
  notes?: string[];
  assumed?: string[]; // what no file said
}

/** What an argument is called. */
export function titleOf(report: Report, arg: number | string): string {
  return report.buffers?.find((buffer) => buffer.arg === arg)?.title ?? String(arg);
}

export interface Place {
  file: string;
  line: number;
  column: number;
}

/** A place that an error names: `path:line:column: message`, or `path:line:column` inside a sentence. */
export function placeIn(message: string): Place | undefined {
  const found = /^(.+?):(\d+):(\d+)(?::|\s|$)/m.exec(message);
  return found === null ? undefined : { file: found[1]!, line: Number(found[2]), column: Number(found[3]) };
}

/** What a run is called in a heading: its kernel. A dump's file name says little; it is told where no kernel is known. */
export function headingOf(kernel: string | undefined, file: string): string {
  return kernel || file;
}

/** An element that differs: `[2]: got 6, expected 7`. */
export function differenceText(at: number[], got: number | string, expected: number | string): string {
  return `[${at.join(', ')}]: got ${got}, expected ${expected}`;
}

/** The place of a fault or message, `path:line`; undefined where the text is in no file. */
export function placeOf(place: string): Place | undefined {
  const found = /^(.+):(\d+)$/.exec(place);
  return found === null ? undefined : { file: found[1]!, line: Number(found[2]), column: 1 };
}

/** Bytes in groups of four, as `00000000 01000000 …`. */
export function payloadText(part: { bytes: number; head: string }): string {
  const words = part.head.match(/.{1,8}/g) ?? [];
  return words.join(' ') + (part.head.length < 2 * part.bytes ? ` … ${part.bytes} bytes` : '');
}
