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
  threads?: number;
  groups?: number;
  instructions?: number;
  printed?: string;
  notes?: string[];
}

/** A place that an error names: `path:line:column: message`, or `path:line:column` inside a sentence. */
export function placeIn(message: string): { file: string; line: number; column: number } | undefined {
  const found = /^(.+?):(\d+):(\d+)(?::|\s|$)/m.exec(message);
  return found === null ? undefined : { file: found[1]!, line: Number(found[2]), column: Number(found[3]) };
}
