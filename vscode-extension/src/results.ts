// What the server's two commands answer, and how that reads as lines of an output channel.

export interface Finding {
  line: number;
  column: number;
  severity: string;
  code: string;
  name: string;
  message: string;
}

interface Failure {
  ok: boolean;
  error?: string;
  diagnostics?: Finding[];
}

export interface AssembleResult extends Failure {
  path: string | null;
  bytes: number;
}

export interface RunResult extends Failure {
  launch?: string;
  kernel?: string;
  platform?: string;
  engine?: string;
  buffers?: { arg: number | string; name: string; dtype: string; shape: number[]; head: unknown[] }[];
  expectations?: { arg: number | string; ok: boolean; message: string }[];
  faults?: { text: string; line: number | null }[];
  threads?: number;
  groups?: number;
  instructions?: number;
  notes?: string[];
}

function findings(result: Failure, file: string): string[] {
  return (result.diagnostics ?? []).map(
    (d) => `${file}:${d.line}:${d.column}: ${d.severity} ${d.code} ${d.name}: ${d.message}`,
  );
}

export function assembleLines(result: AssembleResult, file: string): string[] {
  const head = result.ok
    ? `assembled ${file} -> ${result.path} (${result.bytes} bytes)`
    : `${file} was not assembled: ${result.error ?? 'no reason given'}`;
  return [head, ...findings(result, file)];
}

export function runLines(result: RunResult, file: string): string[] {
  if (result.kernel === undefined) {
    return [`${file} was not run: ${result.error ?? 'no reason given'}`, ...findings(result, file)];
  }
  const lines = [
    `kernel ${result.kernel} on ${result.platform}, ${result.engine}: ` +
      `${result.groups} groups, ${result.threads} threads, ${result.instructions} instructions`,
    ...(result.notes ?? []).map((note) => `  note: ${note}`),
  ];
  for (const buffer of result.buffers ?? []) {
    const title = buffer.name && buffer.name !== String(buffer.arg) ? `${buffer.arg} (${buffer.name})` : `${buffer.arg}`;
    const size = buffer.shape.reduce((product, n) => product * n, 1);
    const more = size > buffer.head.length ? ', ...' : '';
    lines.push(`  arg ${title}: ${buffer.dtype} ${buffer.shape.join('x')}: ${buffer.head.join(', ')}${more}`);
  }
  for (const expectation of result.expectations ?? []) {
    lines.push(`  expect arg ${expectation.arg}: ${expectation.ok ? 'holds' : `FAILED, ${expectation.message}`}`);
  }
  for (const fault of result.faults ?? []) {
    lines.push(`  fault: ${fault.text}`);
  }
  lines.push(result.ok ? '  ok' : '  FAILED');
  return lines;
}
