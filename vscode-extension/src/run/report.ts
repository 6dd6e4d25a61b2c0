// What the server's command `visa.run` answers, as types.

export interface Buffer {
  arg: number | string;
  name: string;
  dtype: string;
  shape: number[];
  data?: string; // the values as base64; absent where there are too many
}

export interface Expectation {
  arg: number | string;
  ok: boolean;
  message: string;
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
  other: string | null; // the other party: a declaration, or another access
  other_place: string;
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
  printed?: string;
  notes?: string[];
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
