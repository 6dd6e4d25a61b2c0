import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresAt, kernelAt, lifeNamed, liveAt, loops, points, rowWords, runWords, ticks, type KernelFigures } from '../src/performance/figures.ts';
import { heatOf, heatOfSchedule, hotLines, hottest, type Profile } from '../src/performance/profile.ts';

const kernel = (name: string, first: number, rows: number[]): KernelFigures => ({
  name,
  grf_bytes: 32,
  instructions: rows.length,
  pressure: { max: Math.max(...rows), line: first + rows.indexOf(Math.max(...rows)) },
  lines: rows.map((pressure, n) => ({ line: first + n, pressure, loop_depth: n % 2 })),
  lives: [
    { name: 'V1', aliases: ['V2', 'V3'], takes: 2, runs: [[first, first + 1], [first + 3, first + 3]] },
    { name: 'V4', aliases: [], takes: 4, runs: [[first + 1, first + 2]] },
  ],
});
const [one, two] = [kernel('one', 10, [1, 5, 3, 5]), kernel('two', 30, [2])];

test('declarations belong to the kernel behind them, what stands below to the last', () => {
  const empty = { ...kernel('none', 1, [0]), lines: [] };
  assert.deepEqual([1, 10, 13, 14, 30, 99].map((line) => kernelAt([empty, one, two], line)?.name), ['one', 'one', 'one', 'two', 'two', 'two']);
  assert.equal(kernelAt([empty], 1), undefined);
});

test('a line without an instruction has the figures of the one before', () => {
  const sparse = { ...one, lines: one.lines.filter(({ line }) => line !== 12) };
  assert.deepEqual([1, 10, 12, 13, 50].map((line) => figuresAt(sparse, line).line), [10, 10, 11, 13, 13]);
});

test('what is live behind a line, the largest first; a variable has the names of its aliases', () => {
  assert.deepEqual([10, 11, 12, 13, 14].map((line) => liveAt(one, line).map(({ name }) => name)), [['V1'], ['V4', 'V1'], ['V4'], ['V1'], []]);
  assert.deepEqual(['V1', 'V3', 'V4', 'V9'].map((name) => lifeNamed(one, name)?.name), ['V1', 'V1', 'V4', undefined]);
});

test('a long kernel is drawn by its highest lines', () => {
  assert.deepEqual(points(one.lines, 2), [
    { first: 10, last: 11, line: 11, pressure: 5, depth: 1 },
    { first: 12, last: 13, line: 13, pressure: 5, depth: 1 },
  ]);
  const rows = Array.from({ length: 10_001 }, (_, n) => (n * 7919) % 97);
  const drawn = points(kernel('long', 1, rows).lines, 1500);
  assert.ok(drawn.length <= 1500);
  assert.equal(Math.max(...drawn.map(({ pressure }) => pressure)), 96);
  assert.deepEqual([drawn[0]!.first, drawn.at(-1)!.last], [1, 10_001]);
});

test('neighbours of one depth are one stretch', () => {
  const depths = (...all: number[]): ReturnType<typeof points> => all.map((depth, n) => ({ first: n, last: n, line: n, pressure: 0, depth }));
  assert.deepEqual(loops(depths(0, 1, 1, 2, 0, 2)).map(({ first, last, depth }) => [first, last, depth]), [[1, 2, 1], [3, 3, 2], [5, 5, 2]]);
});

test('an axis has round steps up to what it has to show', () => {
  assert.deepEqual([0, 1, 7, 41, 101, 128].map((highest) => ticks(highest)), [
    [0, 1],
    [0, 1],
    [0, 2, 4, 6, 8],
    [0, 20, 40, 60],
    [0, 50, 100, 150],
    [0, 50, 100, 150],
  ]);
});

test('runs and rows in words', () => {
  assert.deepEqual([runWords([[3, 3]]), runWords([[3, 9], [12, 12]]), runWords([[1, 2], [4, 5]], 1)], ['line 3', 'lines 3 to 9, 12', 'lines 1 to 2 and 1 more']);
  assert.deepEqual([1, 2, 0.125].map(rowWords), ['1 row', '2 rows', '0.13 rows']);
});

const message = { kind: 'write', memory: 'global', messages: 1, bytes: 64, cache_lines: 16, coalescing: 0.0625, bank_conflicts: 0 };
const profile: Profile = {
  kernels: [
    {
      lines: [
        { line: 10, executions: 1, active: 16, lanes: 16, idle: 0 },
        { line: 11, executions: 1121, active: 8, lanes: 16, idle: 0.5 },
        { line: 12, executions: 1121, active: 12, lanes: 16, idle: 0.25 },
        { line: null, executions: 5000 },
      ],
      messages: [
        { ...message, line: 10 },
        { ...message, line: 12, memory: 'slm', bank_conflicts: 3 },
      ],
    },
  ],
};

test('heat is measured against the hottest line', () => {
  const levels = (measure: 'executions' | 'idle' | 'traffic'): [number, number][] => [...heatOf(profile, measure)].map(([line, { level }]) => [line, level]);
  assert.deepEqual(levels('executions'), [[10, 1], [11, 5], [12, 5]]);
  assert.deepEqual(levels('idle'), [[11, 5], [12, 3]]);
  assert.deepEqual(levels('traffic'), [[10, 5], [12, 2]]);
  assert.deepEqual([...heatOf({ kernels: [] }, 'executions')], []);
});

test('heat in words', () => {
  const words = (measure: 'executions' | 'idle' | 'traffic', line: number): string | undefined => heatOf(profile, measure).get(line)?.words;
  assert.equal(words('executions', 11), '1,121 executions');
  assert.equal(words('idle', 11), '50.0% of 16 lanes idle');
  assert.equal(words('traffic', 10), 'write 64 bytes in 16 cache lines, 6.3% asked for');
  assert.equal(words('traffic', 12), 'write 64 bytes of shared local memory, 3 bank conflicts');
});

test('the heat of a schedule counts cycles, and names those of waiting', () => {
  const heat = heatOfSchedule([{ name: 'k', lines: [{ line: 4, cycles: 2, stall: 0 }, { line: 7, cycles: 1050, stall: 1048 }, { line: 9 }] }]);
  assert.deepEqual([...heat], [
    [4, { level: 1, words: "2 cycles of the finalizer's schedule" }],
    [7, { level: 5, words: "1,050 cycles of the finalizer's schedule, 1,048 of them waiting" }],
  ]);
});

test('of neighbours that say the same only the first is hot; a block is as hot as its hottest line', () => {
  assert.deepEqual(hotLines(heatOf(profile, 'executions')), [11]);
  assert.deepEqual(hotLines(heatOf(profile, 'idle')), [11]);
  assert.deepEqual([hottest(heatOf(profile, 'idle'), 12, 40)?.level, hottest(heatOf(profile, 'idle'), 1, 10)], [3, undefined]);
});
