// Texts that were compiled here are files in the extension's storage. What belongs to such a text for good, its launch file, lies
// beside the source.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { LAUNCH_SUFFIX } from '../run/launch.ts';

const KEY = 'visa.origin:';
let kept: vscode.Memento | undefined;

/** The folder that the server writes compiled programs below. */
export function compiledFolder(context: vscode.ExtensionContext): vscode.Uri {
  return vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'compiled');
}

/** Says where the origins of texts are kept, so that a window that is opened again knows them. */
export function keepOrigins(memento: vscode.Memento): void {
  kept = memento;
}

export async function setOrigin(text: vscode.Uri, source: vscode.Uri): Promise<void> {
  await kept?.update(KEY + text.toString(), source.toString());
}

/** The source of a text that was compiled here; undefined of any other. */
export function originOf(text: vscode.Uri): vscode.Uri | undefined {
  const source = kept?.get<string>(KEY + text.toString());
  return source === undefined ? undefined : vscode.Uri.parse(source);
}

/** Where the launch file of a text is, or would be. */
export function launchFileOf(text: vscode.Uri): vscode.Uri {
  const stem = path.basename(text.path).replace(/\.[^.]*$/, '');
  return vscode.Uri.joinPath(originOf(text) ?? text, '..', stem + LAUNCH_SUFFIX);
}

/** The launch file of a text; undefined where there is none. */
export async function existingLaunchFile(text: vscode.Uri): Promise<string | undefined> {
  const launch = launchFileOf(text);
  return text.scheme === 'file' && (await isThere(launch)) ? launch.fsPath : undefined;
}

/** Whether a file is there; a text that was never saved is not. */
export function isThere(uri: vscode.Uri): Thenable<boolean> {
  return vscode.workspace.fs.stat(uri).then(() => true, () => false);
}
