// The command "Run Kernel": which launch file, the run itself with progress, its result in the panel.

import { access } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
import { LAUNCH_SUFFIX, outline } from './launch.ts';
import type { ResultsPanel } from './panel.ts';
import { runLaunch, type Job } from './runner.ts';

export class Runner {
  private readonly server: Server;
  private readonly panel: ResultsPanel;

  constructor(server: Server, panel: ResultsPanel) {
    this.server = server;
    this.panel = panel;
  }

  /** Runs a text or a launch file; gives the report, undefined where nothing was run. */
  async run(uri: vscode.Uri, launch?: string): Promise<unknown> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage('vISA: nothing is run in an untrusted workspace.');
      return undefined;
    }
    const job = uri.path.endsWith(LAUNCH_SUFFIX) ? await launchJob(uri) : await textJob(uri, launch);
    if (job === undefined) {
      return undefined;
    }
    const name = path.basename(uri.path);
    const options = { location: vscode.ProgressLocation.Notification, title: `vISA: running ${name}`, cancellable: true };
    return vscode.window.withProgress(options, async (_, token) => {
      const outcome = await runLaunch(await this.server.program(), job, token);
      if (token.isCancellationRequested) {
        return undefined;
      }
      const source = await sourceOf(uri);
      this.panel.show(name, outcome, source, () => void this.run(uri, launch));
      return outcome.report;
    });
  }

  /** Writes a launch file beside a text, with what ze_info tells of the arguments, and opens it to be filled in. */
  async newLaunchFile(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
    if (!vscode.workspace.isTrusted) {
      return undefined;
    }
    const stem = path.basename(uri.path).replace(/\.[^.]*$/, '');
    const target = vscode.Uri.joinPath(uri, '..', stem + LAUNCH_SUFFIX);
    if (!(await exists(target))) {
      const made = await this.server.call<{ ok: boolean; text?: string; error?: string }>('visa.launchTemplate', { uri: uri.toString() });
      if (!made.ok) {
        throw new Error(made.error ?? 'the server gave no launch file');
      }
      await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(made.text));
    }
    await vscode.window.showTextDocument(target);
    return target;
  }
}

async function launchJob(uri: vscode.Uri): Promise<Job> {
  await vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString() && d.isDirty)?.save();
  return { launch: uri.fsPath };
}

async function textJob(uri: vscode.Uri, launch: string | undefined): Promise<Job | undefined> {
  const chosen = launch ?? (await launchFor(uri));
  if (chosen === undefined) {
    return undefined;
  }
  if (uri.path.endsWith('.isa')) {
    return { launch: chosen };
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const platform = vscode.workspace.getConfiguration('visa', uri).get<string>('platform', '');
  return { launch: chosen, source: { text: document.getText(), path: uri.fsPath }, platform };
}

/** The sibling launch file, else one of the folder that names the text, else one that the user chooses or makes. */
async function launchFor(uri: vscode.Uri): Promise<string | undefined> {
  if (uri.scheme === 'file' || uri.scheme === 'vscode-remote') {
    const sibling = uri.fsPath.replace(/\.[^.]*$/, '') + LAUNCH_SUFFIX;
    if (await access(sibling).then(() => true, () => false)) {
      return sibling;
    }
  }
  const make = 'New Launch File';
  const choose = 'Choose...';
  const name = path.basename(uri.path);
  const answer = await vscode.window.showInformationMessage(`vISA: ${name} has no launch file yet.`, make, choose);
  if (answer === make) {
    await vscode.commands.executeCommand('visa.newLaunchFile', uri);
  } else if (answer === choose) {
    const picked = await vscode.window.showOpenDialog({ filters: { 'Launch files': ['yaml', 'yml'] } });
    return picked?.[0]?.fsPath;
  }
  return undefined;
}

/** The text whose lines a report names. */
export async function sourceOf(uri: vscode.Uri): Promise<vscode.Uri> {
  if (!uri.path.endsWith(LAUNCH_SUFFIX)) {
    return uri;
  }
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  const stem = path.basename(uri.path).slice(0, -LAUNCH_SUFFIX.length);
  return vscode.Uri.joinPath(uri, '..', outline(text).file ?? `${stem}.visaasm`);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(() => true, () => false);
}
