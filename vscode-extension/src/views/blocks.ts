// What the server says of blocks and edges, as the graph's page shows it. Pure functions, no editor.

interface Lines {
  id: number;
  firstLine: number;
  lastLine: number;
}

/** The block of a line; a line between two blocks, such as a comment, belongs to the one before. */
export function blockAt(blocks: Lines[], line: number): string | undefined {
  const last = Math.max(-1, ...blocks.map((block) => block.lastLine));
  const before = blocks.filter((block) => block.firstLine <= line && line <= last);
  return before.length === 0 ? undefined : String(before.reduce((a, b) => (b.firstLine > a.firstLine ? b : a)).id);
}

/** An edge in words: why control goes this way, and the predicate. What always goes on to the next block needs none. */
export function labelOf(kind: string, condition: string): string {
  const predicate = condition.replace(/^!\(!(.*)\)$/, '$1').replace(/^!\((\w+)\)$/, '!$1');
  const words: Record<string, string> = {
    fall: predicate === '' ? '' : 'not taken',
    branch: predicate === '' ? '' : 'taken',
    back: 'loop back',
    call: 'call',
    return: 'return',
    resume: 'after the call',
  };
  return [words[kind] ?? kind, predicate].filter((part) => part !== '').join(': ');
}

const MOST_LINES = 400; // more make the drawing slow
const MOST_CHARACTERS = 76; // three operands with regions

/** A line of code as lines of a box: a long one goes on below, further in. */
export function wrapped(line: string): string[] {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= MOST_CHARACTERS) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(last === undefined ? word : `    ${word}`);
    }
  }
  return lines;
}

/** The head and the tail of a block that is too long to draw. */
export function shortened(code: string[]): string[] {
  const half = MOST_LINES / 2;
  return code.length <= MOST_LINES ? code : [...code.slice(0, half), `… ${code.length - 2 * half} more`, ...code.slice(-half)];
}
