// The answer of the server's command `visa.prove`, as its page shows it, and the launches that refute, as files.

import type { Fault } from './report.ts';

export interface Need {
  buffer: string;
  elements: string; // a formula
  unit: string; // elements or bytes
}

export interface Proof {
  property: string;
  kernel: string;
  line: number; // from 1
  source?: string; // `path:line` of the source that the text was compiled from
  answer: 'proved' | 'bounded' | 'refuted' | 'unknown';
  assumptions?: string[];
  launch?: string; // the text of a launch file
  reason?: string;
  needs?: Need[];
  faults?: Fault[]; // of the run of that launch
}

export interface ProofAnswer {
  ok: boolean;
  error?: string;
  results?: Proof[];
}

/** What the page shows: the answers of each kernel, one property after the other. */
export interface ShownProof {
  title: string;
  assumed: string[]; // by the user
  summary: string;
  kernels: KernelProof[];
}

export interface KernelProof {
  name: string;
  needs: Need[];
  assumptions: string[]; // of what is proved
  properties: PropertyProof[];
}

export interface PropertyProof {
  name: string;
  summary: string;
  refuted: Refuted[];
  others: { words: string; lines: number[] }[]; // lines without an answer, by the reason
}

/** Lines that one launch refutes, with what its run says. */
export interface Refuted {
  lines: number[];
  launch: string; // the path of the file; empty where there is none
  words: string;
  faults: Fault[];
}

const ANSWERS = ['proved', 'bounded', 'refuted', 'unknown'] as const;

/** The counts of answers: `30 proved, 2 refuted`. */
export function summaryOf(results: Proof[]): string {
  const count = (word: Proof['answer']): number => results.filter((one) => one.answer === word).length;
  return ANSWERS.filter((word) => count(word) > 0).map((word) => `${count(word)} ${word}`).join(', ') || 'nothing to prove';
}

/** What is said of a line that is not proved: of a refuted one what the run of its launch says. */
export function messageOf({ property, answer, reason, faults = [] }: Proof): string {
  const what = answer === 'refuted' ? (faults[0]?.message ?? 'a launch has this fault') : wordsOf(answer);
  return `${property}: ${what}${reason === undefined ? '' : `: ${reason}`}`;
}

function wordsOf(answer: Proof['answer']): string {
  return answer === 'bounded' ? 'proved for the first rounds of loops only' : 'neither proved nor refuted';
}

/** The answers as a page has them; `fileOf` gives the path of the file of a launch. */
export function kernelsOf(results: Proof[], fileOf: (proof: Proof) => string): KernelProof[] {
  return group(results, ({ kernel }) => kernel).map(([name, ofKernel]) => ({
    name,
    needs: group(ofKernel.flatMap(({ needs = [] }) => needs), ({ buffer, elements }) => `${buffer} ${elements}`).map(([, [need]]) => need!),
    assumptions: [...new Set(ofKernel.flatMap(({ answer, assumptions = [] }) => (answer === 'proved' ? assumptions : [])))],
    properties: group(ofKernel, ({ property }) => property).map(([property, all]) => ({
      name: property,
      summary: summaryOf(all),
      refuted: group(all.filter(({ answer }) => answer === 'refuted'), fileOf).map(([launch, same]) => ({
        launch,
        lines: linesOf(same),
        words: same[0]!.reason ?? 'a launch has this fault',
        faults: group(same.flatMap(({ faults = [] }) => faults), (fault) => JSON.stringify(fault)).map(([, [fault]]) => fault!),
      })),
      others: group(all.filter(({ answer }) => answer === 'unknown' || answer === 'bounded'), ({ answer, reason = wordsOf(answer) }) => `${answer}: ${reason}`).map(
        ([words, same]) => ({ words, lines: linesOf(same) }),
      ),
    })),
  }));
}

function linesOf(proofs: Proof[]): number[] {
  return [...new Set(proofs.map(({ line }) => line))];
}

function group<T>(all: T[], keyOf: (one: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  all.forEach((one) => groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]));
  return [...groups];
}

/** The name of the file for a launch that refutes. */
export function launchName({ kernel, property, line }: Proof): string {
  return `${kernel.replace(/[^\w.-]+/g, '_').slice(0, 80)}.${property}.${line}.launch.yaml`;
}

/** A launch file that names its program by a path that holds in any folder. */
export function withProgram(launch: string, program: string): string {
  return launch.replace(/^file: .*$/m, () => `file: ${JSON.stringify(program)}`);
}
