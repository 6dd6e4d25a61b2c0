// The walkthrough, opened once after the extension was installed.

import * as vscode from 'vscode';

const SHOWN = 'walkthroughShown';

/** The editor's own setting says whether walkthroughs open by themselves. */
export async function welcomeOnce(context: vscode.ExtensionContext): Promise<void> {
  const wanted = vscode.workspace.getConfiguration('workbench').get<boolean>('welcomePage.walkthroughs.openOnInstall', true);
  if (!wanted || context.globalState.get<boolean>(SHOWN, false)) {
    return;
  }
  await context.globalState.update(SHOWN, true);
  const beside = vscode.window.activeTextEditor !== undefined; // a text that was just opened stays to be seen
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${context.extension.id}#start`, beside);
}
