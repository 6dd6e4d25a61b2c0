// The answer of the server's command `visa.prove`: its counts in words, and the launches that refute, as files.

export interface Proof {
  property: string;
  kernel: string;
  line: number; // from 1
  answer: 'proved' | 'bounded' | 'refuted' | 'unknown';
  assumptions: string[];
  launch?: string; // the text of a launch file
  reason?: string;
}

export interface ProofAnswer {
  ok: boolean;
  error?: string;
  results?: Proof[];
  text?: string; // the report for readers
}

/** The counts of answers: `30 proved, 2 refuted`. */
export function summaryOf(results: Proof[]): string {
  const count = (word: Proof['answer']): number => results.filter((one) => one.answer === word).length;
  const words = (['proved', 'bounded', 'refuted', 'unknown'] as const).filter((word) => count(word) > 0);
  return words.map((word) => `${count(word)} ${word}`).join(', ') || 'nothing to prove';
}

/** What is said of a line that is not proved. */
export function messageOf({ property, answer, reason }: Proof): string {
  const what = answer === 'refuted' ? 'a launch has this fault' : answer === 'bounded' ? 'proved for the first rounds of loops only' : 'neither proved nor refuted';
  return `${property}: ${what}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The name of the file for a launch that refutes. */
export function launchName({ kernel, property, line }: Proof): string {
  return `${kernel.replace(/[^\w.-]+/g, '_').slice(0, 80)}.${property}.${line}.launch.yaml`;
}

/** A launch file that names its program by a path that holds in any folder. */
export function withProgram(launch: string, program: string): string {
  return launch.replace(/^file: .*$/m, () => `file: ${JSON.stringify(program)}`);
}
