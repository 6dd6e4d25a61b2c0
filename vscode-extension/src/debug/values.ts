// What the editor asks the debugger about: the operand under the pointer, and the values behind the lines up to the stop.

import * as vscode from 'vscode';
import { DEBUG_TYPE, LANGUAGES } from './model.ts';
import { operandAt, told } from './operand.ts';

const MOST_LINES = 60; // above the stop

export function registerValues(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerEvaluatableExpressionProvider(LANGUAGES, {
      provideEvaluatableExpression(document, { line, character }) {
        const operand = operandAt(document.lineAt(line).text, character);
        return operand && new vscode.EvaluatableExpression(rangeOf(line, operand), operand.expression);
      },
    }),
    vscode.languages.registerInlineValuesProvider(LANGUAGES, {
      provideInlineValues(document, viewPort, { stoppedLocation }) {
        if (vscode.debug.activeDebugSession?.type !== DEBUG_TYPE) {
          return [];
        }
        const stopped = stoppedLocation.end.line;
        const first = Math.max(viewPort.start.line, stopped - MOST_LINES);
        const lines = Array.from({ length: stopped + 1 }, (_, line) => (line < first ? '' : document.lineAt(line).text));
        return told(lines, first, stopped).map(({ line, operand }) => new vscode.InlineValueEvaluatableExpression(rangeOf(line, operand), operand.name));
      },
    }),
  );
}

function rangeOf(line: number, { from, to }: { from: number; to: number }): vscode.Range {
  return new vscode.Range(line, from, line, to);
}
