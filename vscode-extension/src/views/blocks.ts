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
