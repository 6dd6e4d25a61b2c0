// "Debug" beside each lens "Run" of the server, and no values of the last run behind the lines while something is debugged.

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';
import { DEBUG_TYPE } from './model.ts';

export const debugLenses: Pick<Middleware, 'provideCodeLenses' | 'provideInlineValues'> = {
  provideCodeLenses: async (document, token, next) => {
    const lenses = await next(document, token);
    if (document.uri.scheme !== 'file' || !vscode.workspace.isTrusted) {
      return lenses;
    }
    return lenses?.flatMap((lens) => (lens.command?.command === 'visa.run' ? [lens, debugLens(lens, document.uri)] : [lens]));
  },
  provideInlineValues: async (document, viewPort, context, token, next) =>
    vscode.debug.activeDebugSession?.type === DEBUG_TYPE ? [] : next(document, viewPort, context, token),
};

function debugLens({ range }: vscode.CodeLens, uri: vscode.Uri): vscode.CodeLens {
  return new vscode.CodeLens(range, { title: 'Debug', command: 'visa.debugKernel', arguments: [uri] });
}
