// Moves that only this debugger has: one thread alone, on to the barrier, back to whoever wrote a value.

import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { messageOf } from '../server/client.ts';
import { cursorOperand, DEBUG_TYPE } from './model.ts';

interface VariableContext {
  variable?: { name?: string; evaluateName?: string };
}

export function registerMoves(): vscode.Disposable {
  const move = (command: string, request: string, argument: (given: unknown, item: Item) => object | undefined): vscode.Disposable =>
    vscode.commands.registerCommand(command, async (given?: unknown) => {
      const item = vscode.debug.activeStackItem;
      if (item?.session.type !== DEBUG_TYPE) {
        void vscode.window.showWarningMessage('vISA: no kernel stands still in the debugger.');
        return;
      }
      const found = argument(given, item);
      if (found === undefined) {
        void vscode.window.showWarningMessage('vISA: put the cursor on an operand, or choose a variable of the debugger.');
        return;
      }
      try {
        await item.session.customRequest(request, found);
      } catch (error) {
        void vscode.window.showErrorMessage(plain(`vISA: ${messageOf(error)}`));
      }
    });
  const thread = (given: unknown, item: Item): object => ({ threadId: threadOf(given) ?? item.threadId });
  return vscode.Disposable.from(
    move('visa.debug.runAlone', 'visaRunAlone', thread),
    move('visa.debug.runToBarrier', 'visaRunToBarrier', thread),
    move('visa.debug.lastWrite', 'visaLastWrite', (given, item) => {
      const expression = (given as VariableContext | undefined)?.variable?.evaluateName ?? cursorOperand()?.name;
      const where = 'frameId' in item ? { frameId: item.frameId } : { threadId: item.threadId };
      return expression === undefined ? undefined : { ...where, expression };
    }),
  );
}

type Item = NonNullable<typeof vscode.debug.activeStackItem>;

/** The thread of a row of the call stack, which hands over `thread:SESSION:NUMBER`. */
function threadOf(given: unknown): number | undefined {
  const found = typeof given === 'string' ? /^thread:.*:(\d+)$/.exec(given) : null;
  return found === null ? undefined : Number(found[1]);
}
