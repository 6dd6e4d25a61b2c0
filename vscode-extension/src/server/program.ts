// Which `visa-lsp` program is used: the configured one, the extension's private one, or the one on the search path.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { runProcess } from '../process.ts';
import { privateProgram } from './install.ts';
import { ProgramNotFound, WrongSetting } from './missing.ts';

export interface Program {
  command: string;
  origin: 'setting' | 'private' | 'path';
}

export async function findProgram(context: vscode.ExtensionContext): Promise<Program> {
  const configured = vscode.workspace.getConfiguration('visa').get<string>('serverPath', '').trim();
  // The setting has machine scope, so no folder can bring one along; in an untrusted folder it is not used at all.
  if (configured !== '' && vscode.workspace.isTrusted) {
    await mustAnswer(configured);
    return { command: configured, origin: 'setting' };
  }
  const own = await privateProgram(context);
  if (own !== undefined) {
    return { command: own, origin: 'private' };
  }
  const found = await onSearchPath();
  if (found === undefined) {
    throw new ProgramNotFound('the language server is not installed');
  }
  return { command: found, origin: 'path' };
}

async function mustAnswer(command: string): Promise<void> {
  const answer = await runProcess(command, ['--version']);
  if (answer.code !== 0) {
    const said = answer.stderr.trim().split('\n').at(-1) || `exit status ${answer.code}`;
    const right = 'it should be the path of a visa-lsp program, or empty for the one that comes with this extension';
    throw new WrongSetting('visa.serverPath', `'${command}' of the setting visa.serverPath does not work (${said}); ${right}`);
  }
}

// Looked up by us in absolute folders only: a program in the opened folder must never be the one that is started.
async function onSearchPath(): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'visa-lsp.exe' : 'visa-lsp';
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    if (!path.isAbsolute(folder)) {
      continue;
    }
    const candidate = path.join(folder, name);
    const answer = await runProcess(candidate, ['--version']);
    if (answer.code === 0) {
      return candidate;
    }
  }
  return undefined;
}
