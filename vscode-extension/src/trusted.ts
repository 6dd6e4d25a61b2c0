// What an untrusted workspace forbids.

import * as vscode from 'vscode';

/** Whether the workspace is trusted; if not, a message says that nothing is `done`, such as `run`. */
export function isTrustedFor(done: 'run' | 'written' | 'compiled' | 'debugged'): boolean {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage(`vISA: nothing is ${done} in an untrusted workspace.`);
  }
  return vscode.workspace.isTrusted;
}
