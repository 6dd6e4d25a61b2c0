// The lines of pseudo-code with the lines of vISA that each stands for. Pure, no editor; lines count from 0 here, in answers from 1.

/** What `visa.read` answers. */
export interface ReadAnswer {
  ok: boolean;
  error?: string;
  line?: number;
  kernels?: { lines: { text: string; visa: number[] }[] }[];
}

export class CodeLines {
  readonly text: string;
  private readonly lines: { text: string; visa: number[] }[];
  private readonly head: string[]; // why the pseudo-code is not that of the text as it is

  constructor(lines: { text: string; visa: number[] }[] = [], head: string[] = []) {
    this.lines = lines;
    this.head = head;
    this.text = [...head, ...lines.map(({ text }) => text), ''].join('\n');
  }

  /** What an answer shows: new lines, or the ones of before with what is wrong. */
  with({ ok, error = '', line, kernels = [] }: ReadAnswer): CodeLines {
    if (ok) {
      const blank = { text: '', visa: [] };
      return new CodeLines(kernels.flatMap(({ lines }, at) => (at === 0 ? lines : [blank, ...lines])));
    }
    const words = `${line === undefined ? '' : `line ${line}: `}${error}`.split('\n');
    const state = this.lines.length === 0 ? '// No pseudo-code.' : '// This is the pseudo-code from before the last edits.';
    return new CodeLines(this.lines, [state, ...words.map((one) => `// ${one}`)]);
  }

  /** The lines of vISA behind a line of pseudo-code. */
  visaOf(line: number): number[] {
    return this.lines[line - this.head.length]?.visa.map((number) => number - 1) ?? [];
  }

  /** The lines of pseudo-code that stand for a line of vISA. */
  codeOf(line: number): number[] {
    return this.lines.flatMap(({ visa }, at) => (visa.includes(line + 1) ? [at + this.head.length] : []));
  }
}
