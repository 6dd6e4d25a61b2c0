// The client: starts the server, shows what its two commands answer. Everything else the protocol does by itself.

import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from 'vscode-languageclient/node';
import { assembleLines, runLines, type AssembleResult, type RunResult } from './results';

type Call = (command: string, args: unknown[]) => vscode.ProviderResult<unknown>;

let client: LanguageClient | undefined;
let output: vscode.OutputChannel;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel('vISA Results');
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand('visa.restartServer', restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration('visa.serverPath')) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.dispose();
  client = undefined;
  await start();
}

async function start(): Promise<void> {
  // A path that a folder brings along is never executed: the setting has machine scope.
  const command = vscode.workspace.getConfiguration('visa').get<string>('serverPath') || 'visa-lsp';
  const server: ServerOptions = { command, args: [] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: 'visa' }],
    outputChannelName: 'vISA Language Server',
    synchronize: { configurationSection: 'visa' },
    middleware: { executeCommand },
  };
  const starting = new LanguageClient('visa', 'vISA Language Server', server, options);
  client = starting;
  try {
    await starting.start();
  } catch (error) {
    const settings = 'Open Settings';
    const answer = await vscode.window.showErrorMessage(
      `The vISA language server '${command}' did not start: ${error instanceof Error ? error.message : String(error)}`,
      settings,
    );
    if (answer === settings) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'visa.serverPath');
    }
  }
}

// The client library registers the server's commands; called from the palette they have no arguments yet.
async function executeCommand(command: string, args: unknown[], next: Call): Promise<unknown> {
  if (command !== 'visa.assemble' && command !== 'visa.run') {
    return next(command, args);
  }
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage('vISA: nothing is written or run in an untrusted workspace.');
    return undefined;
  }
  const fromUser = args.length === 0 || args[0] instanceof vscode.Uri;
  if (!fromUser) {
    return next(command, args);
  }
  const uri = args[0] instanceof vscode.Uri ? args[0] : vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined) {
    void vscode.window.showWarningMessage('vISA: open a .visaasm file first.');
    return undefined;
  }
  const file = uri.scheme === 'file' ? uri.fsPath : uri.toString();
  const title = command === 'visa.run' ? 'vISA: running' : 'vISA: assembling';
  const result = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title },
    async () => next(command, [{ uri: uri.toString() }]),
  );
  show(command, result, file);
  return result;
}

function show(command: string, result: unknown, file: string): void {
  const lines =
    command === 'visa.run' ? runLines(result as RunResult, file) : assembleLines(result as AssembleResult, file);
  output.appendLine(lines.join('\n'));
  const ok = (result as { ok?: boolean } | null)?.ok === true;
  const details = 'Show Results';
  const message = ok
    ? vscode.window.showInformationMessage(`vISA: ${command === 'visa.run' ? 'the run is ok' : lines[0]}`, details)
    : vscode.window.showErrorMessage(`vISA: ${lines[0]}`, details);
  void message.then((answer) => {
    if (answer === details) {
      output.show(true);
    }
  });
  if (command === 'visa.run') {
    output.show(true);
  }
}
