import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operandAt, operandsOf, told } from '../src/debug/operand.ts';

const expressions = (line: string): string[] => operandsOf(line).map((operand) => operand.expression);

test('operands are written as the debugger reads them', () => {
  assert.deepEqual(expressions('    add (M1, 16) V33(0,0)<1> V34(1, 0)<8;8,1> 0x4:ud'), ['V33(0,0)<1>', 'V34(1,0)<8;8,1>']);
  assert.deepEqual(expressions('    mul (M1_NM, 1) base(0,0)<1> size(0,0)<0;1,0> %r0(0,1)<0;1,0> // not V9'), [
    'base(0,0)<1>',
    'size(0,0)<0;1,0>',
    '%r0(0,1)<0;1,0>',
  ]);
  assert.deepEqual(expressions('    gather4_scaled.R (M1, 16) x 0x0:ud here.0 x_here.8'), ['x', 'here', 'x_here']);
  assert.deepEqual(expressions('    cmp.lt (M1, 16) P1 V1(0,0)<1;1,0> 0x2:f'), ['P1', 'V1(0,0)<1;1,0>']);
});

test('a predicate is an operand, a mnemonic and a mask are none', () => {
  assert.deepEqual(expressions('(!P2.any) goto (M5_NM, 16) end_1'), ['P2', 'end_1']);
  assert.equal(operandAt('(P2) mov (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0>', 1)?.expression, 'P2');
  assert.equal(operandAt('(P2) mov (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0>', 6), undefined);
  assert.equal(operandAt('(P2) mov (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0>', 11), undefined);
  assert.equal(operandAt('(P2) mov (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0>', 20)?.expression, 'V1(0,0)<1>');
});

test('a declaration names its variable, other directives and labels nothing', () => {
  assert.deepEqual(expressions('.decl here v_type=G type=ud num_elts=16 align=GRF'), ['here']);
  assert.deepEqual(expressions('.input x offset=76 size=4'), ['x']);
  assert.deepEqual([...expressions('.kernel "average"'), ...expressions('label_2:'), ...expressions('// add V1')], []);
});

test('an indirect operand is not taken for a variable r', () => {
  assert.deepEqual(expressions('    mov (M1, 1) V1(0,0)<1> r[A0(0),0]<0;1,0>'), ['V1(0,0)<1>', 'A0']);
});

test('behind the lines stand the operands of the next one, and what was written last above it', () => {
  const lines = [
    '.kernel "other"',
    '    mov (M1, 16) V9(0,0)<1> V1(0,0)<1;1,0>',
    '.kernel "k"',
    '.decl V1 v_type=G type=ud num_elts=16',
    '    mov (M1, 16) V1(0,0)<1> 0x0:ud',
    '    mov (M1, 16) V2(0,0)<1> 0x0:ud',
    '    mov (M1, 16) V1(0,0)<1> 0x1:ud',
    '    add (M1, 16) V3(0,0)<1> V1(0,0)<1;1,0> V2(0,0)<1;1,0>',
  ];
  const seen = (first: number, stopped: number): string[] => told(lines, first, stopped).map(({ line, operand }) => `${line} ${operand.name}`);
  assert.deepEqual(seen(0, 7), ['7 V3', '7 V1', '7 V2']);
  assert.deepEqual(seen(0, 6), ['5 V2', '6 V1']);
  assert.deepEqual(seen(5, 5), ['5 V2']);
  const gather = '(P1) gather4_scaled.R (M1, 16) x 0x0:ud here.0 x_here.0';
  assert.deepEqual(told([gather], 0, 0).map(({ operand }) => operand.expression), ['P1', 'here', 'x_here']);
});
