// Operands of a line of vISA as expressions of the debugger. Found by their form: what a name stands for is the adapter's
// business. Pure functions, no editor.

export interface Operand {
  expression: string;
  name: string;
  from: number; // columns, the second one behind the operand
  to: number;
  written: boolean; // has the form of a destination: a region of one stride
  inRegisters: boolean; // has a region or an offset, or predicates the line; a name alone may be a surface or a label
}

const COMMENT = /\/\/.*$/;
const DECLARED = /^(\s*\.(?:decl|input)\s+)(%?[\w$@?]+)/;
const DIRECTIVE = /^\s*\.|^\s*[A-Za-z_$@?][\w$@?-]*:\s*$/;
const HEAD = /^(\s*)(\(\s*!?\s*([\w$@?]+)[^)]*\))?\s*[a-z][\w.<>]*(?=\s|$)/; // predicate, and the mnemonic with its modifiers
const SIZE = /^\s*\([^)]*\)/;
const WORD = /(?<![\w$@?%.:])(%?[A-Za-z_$@?][\w$@?]*)(\(\s*\d+\s*,\s*\d+\s*\)(?:<[\d;,\s]+>)?(?::[a-z]+)?|\.\d+)?(?![\w$@?[])/g;

/** The operands of a line, from left to right, its predicate among them. */
export function operandsOf(line: string): Operand[] {
  const code = line.replace(COMMENT, '').replace(/"[^"]*"/g, (quoted) => ' '.repeat(quoted.length));
  const declared = DECLARED.exec(code);
  if (declared !== null) {
    return [whole(declared[2]!, declared[1]!.length)];
  }
  const head = DIRECTIVE.test(code) ? null : HEAD.exec(code);
  if (head === null) {
    return [];
  }
  const found: Operand[] = [];
  if (head[3] !== undefined) {
    found.push(whole(head[3], code.indexOf(head[3], head[1]!.length)));
  }
  const start = head[0].length + (SIZE.exec(code.slice(head[0].length))?.[0].length ?? 0);
  for (const match of code.slice(start).matchAll(WORD)) {
    const [text, name, behind = ''] = match;
    const from = start + match.index;
    // `V32.8` is where a message's data begins, in bytes: all of the variable is meant.
    const expression = behind.startsWith('(') ? text.replace(/\s+/g, '') : name!;
    found.push({ expression, name: name!, from, to: from + text.length, written: /<\s*\d+\s*>/.test(behind), inRegisters: behind !== '' });
  }
  return found;
}

/** The operand at a column of a line. */
export function operandAt(line: string, column: number): Operand | undefined {
  return operandsOf(line).find((operand) => operand.from <= column && column <= operand.to);
}

/**
 * What is told behind the lines from `first` to the one that is about to be executed: there its registers, above it what each
 * line has written, once where it was written last. Lines of another kernel do not count.
 */
export function told(lines: string[], first: number, stopped: number): { line: number; operand: Operand }[] {
  const found: { line: number; operand: Operand }[] = [];
  const names = new Set<string>();
  for (let line = stopped; line >= first && !/^\s*\.(kernel|function)\b/.test(lines[line] ?? ''); line--) {
    const operands = operandsOf(/^\s*\./.test(lines[line] ?? '') ? '' : (lines[line] ?? ''));
    const shown = operands.filter((operand) => (line === stopped ? operand.inRegisters : operand.written) && !names.has(operand.name));
    shown.forEach((operand) => names.add(operand.name));
    found.unshift(...shown.map((operand) => ({ line, operand })));
  }
  return found;
}

function whole(name: string, from: number): Operand {
  return { expression: name, name, from, to: from + name.length, written: false, inRegisters: true };
}
