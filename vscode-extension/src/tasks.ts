// Tasks: `visa-lsp --check` over each folder, its findings read by the problem matcher `$visa`, and programs under
// `visa-lsp exec`, whose faults `$visa-exec` reads.

import * as vscode from 'vscode';
import type { Server } from './server/client.ts';

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
    const args = ['exec', '--', host, ...((definition['args'] as string[] | undefined) ?? [])];
    const run = new vscode.ProcessExecution(program, args, { cwd: folder.uri.fsPath });
    return new vscode.Task(definition, folder, `exec ${host}`, 'visa', run, '$visa-exec');
  }
  const paths = (definition['paths'] as string[] | undefined) ?? ['.'];
  const execution = new vscode.ProcessExecution(program, ['check', '--format', 'concise', ...paths], { cwd: folder.uri.fsPath });
  return new vscode.Task(definition, folder, 'check', 'visa', execution, '$visa');
}
