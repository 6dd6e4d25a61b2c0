// Launch files as far as an editor needs them: which text does it run, where do its expectations stand.
// The server's reader is the authority; here a few lines are found by their first words.

export interface LaunchOutline {
  kernel: string | undefined;
  file: string | undefined;
  expectLine: number; // from 0; 0 where there is none
  itemLines: number[]; // of each expectation, from 0
}

export function outline(text: string): LaunchOutline {
  const lines = text.split(/\r?\n/);
  const expectLine = lines.findIndex((line) => /^expect\s*:/.test(line));
  const itemLines: number[] = [];
  let indent = -1;
  for (let n = expectLine + 1; expectLine >= 0 && n < lines.length; n++) {
    const line = lines[n]!;
    const found = /^(\s*)-\s/.exec(line);
    if (found !== null && (indent < 0 || found[1]!.length === indent)) {
      indent = found[1]!.length;
      itemLines.push(n);
    } else if (/^[A-Za-z_]/.test(line)) {
      break;
    }
  }
  return {
    kernel: valueOf(lines, 'kernel'),
    file: valueOf(lines, 'file'),
    expectLine: Math.max(0, expectLine),
    itemLines,
  };
}

function valueOf(lines: string[], key: string): string | undefined {
  const line = lines.find((l) => l.startsWith(`${key}:`));
  const value = line?.slice(key.length + 1).replace(/\s+#.*$/, '').trim().replace(/^(["'])(.*)\1$/, '$2');
  return value === '' ? undefined : value;
}

export const LAUNCH_SUFFIX = '.launch.yaml';
