// The language client: started, stopped, asked. What a command of the server shows is the business of `Commands`.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { LanguageClient, ProgressType, type LanguageClientOptions } from 'vscode-languageclient/node';
import { installServer } from './install.ts';
import { findProgram, ProgramNotFound, type Program } from './program.ts';
import { plain } from '../plain.ts';
import { HeaderFolds } from '../views/folding.ts';

// Launch files and ze_info may be called YAML, as settings of the user say; the server knows them by name.
const BESIDE = ['**/*.launch.{yaml,yml}', '**/*.zeinfo.{yaml,yml}', '**/*.{zeinfo,ze_info}'];

export type Show = (command: string, args: unknown[]) => Promise<unknown> | undefined;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private used: Program | undefined;
  private work: Promise<void> = Promise.resolve();
  private readonly context: vscode.ExtensionContext;
  private readonly output: vscode.OutputChannel;
  private readonly show: Show;
  private readonly folds = new HeaderFolds();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(context: vscode.ExtensionContext, output: vscode.OutputChannel, show: Show) {
    this.context = context;
    this.output = output;
    this.show = show;
  }

  get running(): boolean {
    return this.client?.isRunning() ?? false;
  }

  /** The program in use, found if need be; an exception says why there is none. */
  async program(): Promise<string> {
    this.used ??= await findProgram(this.context);
    return this.used.command;
  }

  /** Stops what runs and starts anew; calls run one after another. */
  restart(): Promise<void> {
    this.work = this.work.then(() => this.stopNow()).then(() => this.startNow());
    return this.work;
  }

  stop(): Promise<void> {
    this.work = this.work.then(() => this.stopNow());
    return this.work;
  }

  dispose(): void {
    this.folds.dispose();
    void this.stop();
  }

  /** Calls a command of the server; cancelling the token cancels the request. */
  async call<R>(command: string, argument: object, token?: vscode.CancellationToken): Promise<R> {
    return this.ask<R>('workspace/executeCommand', { command, arguments: [argument] }, token);
  }

  /** Sends a request as soon as a start that is under way has come to its end. */
  async ask<R>(method: string, params: object, token?: vscode.CancellationToken): Promise<R> {
    await this.work;
    if (this.client === undefined) {
      throw new Error('the language server is not running');
    }
    // A token that is not given must not be there: it would be sent as one more parameter.
    return token === undefined ? this.client.sendRequest<R>(method, params) : this.client.sendRequest<R>(method, params, token);
  }

  /** Calls a command that tells parts of its answer before the answer. */
  async callInParts<P, R>(command: string, argument: object, part: (value: P) => void, token: vscode.CancellationToken): Promise<R> {
    await this.work;
    const partialResultToken = randomUUID();
    const listening = this.client?.onProgress(new ProgressType<P>(), partialResultToken, part);
    try {
      return await this.call<R>(command, { ...argument, partialResultToken }, token);
    } finally {
      listening?.dispose();
    }
  }

  /** Tells the server something, where one is running. */
  notify(method: string, params: object): void {
    void this.client?.sendNotification(method, params).catch(() => undefined); // one that is ending hears nothing
  }

  async install(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage('vISA: nothing is installed from an untrusted workspace.');
      return;
    }
    try {
      await installServer(this.context, this.output);
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        void this.complain(`The vISA language server was not installed: ${messageOf(error)}`);
      }
      return;
    }
    await this.restart();
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.used = undefined;
    await client?.dispose().catch(() => undefined); // one that did not start cannot be stopped
    this.changed.fire();
  }

  private async startNow(): Promise<void> {
    try {
      const command = await this.program();
      const options: LanguageClientOptions = {
        documentSelector: [{ language: 'visa' }, { language: 'visa-launch' }, ...BESIDE.map((pattern) => ({ scheme: 'file', pattern }))],
        outputChannelName: 'vISA Language Server',
        initializationOptions: { trusted: vscode.workspace.isTrusted },
        middleware: {
          ...this.folds.middleware,
          executeCommand: (name, args, next) => this.show(name, args) ?? next(name, args),
        },
      };
      this.client = new LanguageClient('visa', 'vISA Language Server', { command, args: [] }, options);
      await this.client.start();
      this.output.appendLine(`started ${command} (${this.used?.origin})`);
    } catch (error) {
      this.client = undefined;
      void this.complain(`vISA: ${messageOf(error)}.`, error instanceof ProgramNotFound);
    }
    this.changed.fire();
  }

  private async complain(message: string, offer = false): Promise<void> {
    this.output.appendLine(message);
    const [install, choose, log, trust] = ['Install', 'Choose Program', 'Show Log', 'Manage Trust'] as const;
    const trusted = vscode.workspace.isTrusted;
    const answers = offer ? [trusted ? install : trust, choose] : [log, choose];
    const ask = offer ? vscode.window.showInformationMessage : vscode.window.showErrorMessage;
    const how = trusted
      ? ' Install the one that comes with this extension into a private environment?'
      : ' In a folder that you trust it can be installed from this extension.';
    const answer = await ask(plain(message + (offer ? how : '')), ...answers);
    if (answer === install) {
      await this.install();
    } else if (answer === log) {
      this.output.show();
    } else if (answer === trust) {
      await vscode.commands.executeCommand('workbench.trust.manage');
    } else if (answer === choose) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'visa.serverPath');
    }
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
