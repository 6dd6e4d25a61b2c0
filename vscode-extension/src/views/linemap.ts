// Where the lines of a text have gone since something was made of it: edits move lines, and an edited line stays itself.
// Pure functions, no editor; lines count from 0.

/** An edit, as the editor tells it. */
export interface Edit {
  range: { start: { line: number; character: number }; end: { line: number } };
  text: string;
}

export class LineMap {
  private readonly lines: (number | undefined)[]; // by line of now, the line of then

  constructor(count: number) {
    this.lines = Array.from({ length: count }, (_, line) => line);
  }

  /** Takes an edit over. Edits of one change are told from the last line to the first, as the editor has them. */
  edited({ range: { start, end }, text }: Edit): void {
    const added: undefined[] = Array.from(text.matchAll(/\r\n|\r|\n/g), () => undefined);
    // Whole lines that are put before a line leave it itself; else what comes behind the first line is new.
    const isBefore = start.character === 0 && /[\r\n]$/.test(text);
    const lines = isBefore ? [...added, this.lines[end.line]] : [this.lines[start.line], ...added];
    this.lines.splice(start.line, end.line - start.line + 1, ...lines);
  }

  /** The line of then, of a line of now. */
  then(line: number): number | undefined {
    return this.lines[line];
  }

  /** The line of now, of a line of then. */
  now(line: number): number | undefined {
    const found = this.lines.indexOf(line);
    return found < 0 ? undefined : found;
  }
}
