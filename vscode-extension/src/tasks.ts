// Tasks: `visa-lsp --check` over each folder, its findings read by the problem matcher `$visa`, and programs under
// `visa-lsp exec`, whose faults `$visa-exec` reads.

import * as vscode from 'vscode';
import type { Server } from './server/client.ts';

const CAPTURES = 'visa-lsp-exec'; // in the folder: the launch of the first fault

/** Runs an OpenCL program until its first fault; the launch file of that, or undefined if there was none. */
export async function launchOfFault(program: string, folder: vscode.WorkspaceFolder, host: string, args: string[]): Promise<vscode.Uri | undefined> {
  const run = task(program, folder, { type: 'visa', task: 'exec', program: host, args, breakOnFault: true });
  const began = Date.now();
  const execution = await vscode.tasks.executeTask(run);
  await new Promise<void>((resolve) => {
    const ended = vscode.tasks.onDidEndTask((event) => {
      if (event.execution === execution) {
        ended.dispose();
        resolve();
      }
    });
  });
  const found = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, `${CAPTURES}/*.launch.yaml`), null);
  for (const uri of found) {
    if ((await vscode.workspace.fs.stat(uri)).mtime >= began) {
      return uri;
    }
  }
  return undefined;
}

export class CheckTasks implements vscode.TaskProvider {
  private readonly server: Server;

  constructor(server: Server) {
    this.server = server;
  }

  async provideTasks(): Promise<vscode.Task[]> {
    if (!vscode.workspace.isTrusted) {
      return [];
    }
    const program = await this.server.program().catch(() => undefined);
    const folders = program === undefined ? [] : (vscode.workspace.workspaceFolders ?? []);
    return folders.map((folder) => task(program!, folder, { type: 'visa', task: 'check' }));
  }

  async resolveTask(given: vscode.Task): Promise<vscode.Task | undefined> {
    const folder = typeof given.scope === 'object' ? given.scope : vscode.workspace.workspaceFolders?.[0];
    if (folder === undefined || !vscode.workspace.isTrusted) {
      return undefined;
    }
    return task(await this.server.program(), folder, given.definition);
  }
}

function task(program: string, folder: vscode.WorkspaceFolder, definition: vscode.TaskDefinition): vscode.Task {
  const host = definition['program'] as string | undefined;
  if (definition['task'] === 'exec' && host !== undefined) {
    const options = definition['breakOnFault'] === true ? ['--break-on-fault', '--capture', CAPTURES] : [];
    const args = ['exec', ...options, '--', host, ...((definition['args'] as string[] | undefined) ?? [])];
    const run = new vscode.ProcessExecution(program, args, { cwd: folder.uri.fsPath });
    return new vscode.Task(definition, folder, `exec ${host}`, 'visa', run, '$visa-exec');
  }
  const paths = (definition['paths'] as string[] | undefined) ?? ['.'];
  const execution = new vscode.ProcessExecution(program, ['check', '--format', 'concise', ...paths], { cwd: folder.uri.fsPath });
  return new vscode.Task(definition, folder, 'check', 'visa', execution, '$visa');
}
