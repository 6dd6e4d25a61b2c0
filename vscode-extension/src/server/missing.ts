// What is said when there is no server to ask: what is missing, and a button that mends it.

import * as vscode from 'vscode';
import { plain } from '../plain.ts';

/** There is no program at all. */
export class ProgramNotFound extends Error {}

/** A setting names a program that cannot be used. */
export class WrongSetting extends Error {
  readonly setting: 'visa.serverPath' | 'visa.python';

  constructor(setting: WrongSetting['setting'], message: string) {
    super(message);
    this.setting = setting;
  }
}

/** What mends it, as the user has chosen. */
export type Remedy = 'install' | 'log' | undefined;

const INSTALL = 'Install';
const CHOOSE = 'Choose Program';
const OPEN = 'Open Setting';
const LOG = 'Show Log';
const TRUST = 'Manage Trust';

/** Says what is wrong; what the extension itself can do is answered, and what the editor does is done. */
export async function complain(problem: unknown): Promise<Remedy> {
  const trusted = vscode.workspace.isTrusted;
  const message = `vISA: ${messageOf(problem)}.`;
  let chosen: string | undefined;
  if (problem instanceof WrongSetting) {
    chosen = await vscode.window.showErrorMessage(plain(message), OPEN, LOG);
  } else if (problem instanceof ProgramNotFound) {
    const how = trusted
      ? 'Install the one that comes with this extension into a private environment?'
      : 'In a folder that you trust it can be installed from this extension.';
    chosen = await vscode.window.showInformationMessage(plain(`${message} ${how}`), trusted ? INSTALL : TRUST, CHOOSE);
  } else {
    chosen = await vscode.window.showErrorMessage(plain(message), LOG, CHOOSE);
  }
  if (chosen === TRUST) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  } else if (chosen === OPEN || chosen === CHOOSE) {
    await openSetting(problem instanceof WrongSetting ? problem.setting : 'visa.serverPath');
  }
  return chosen === INSTALL ? 'install' : chosen === LOG ? 'log' : undefined;
}

/** Opens the settings where this one can be set: it belongs to the machine that the extension runs on. */
async function openSetting(name: WrongSetting['setting']): Promise<void> {
  const remote = vscode.env.remoteName !== undefined;
  await vscode.commands.executeCommand(`workbench.action.open${remote ? 'Remote' : ''}Settings`, remote ? { query: name } : name);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
