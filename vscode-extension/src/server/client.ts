// The language client: started, stopped, asked. What a command of the server shows is the business of `Commands`.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { LanguageClient, ProgressType, type LanguageClientOptions } from 'vscode-languageclient/node';
import { installProver, installServer } from './install.ts';
import { complain, messageOf, ProgramNotFound, WrongSetting } from './missing.ts';
import { findProgram, type Program } from './program.ts';
import { debugLenses } from '../debug/lens.ts';
import { HeaderFolds } from '../views/folding.ts';
import { compiledFolder } from '../views/origins.ts';

// Launch files and ze_info may be called YAML, as settings of the user say; the server knows them by name.
const HOSTS = ['opencl', 'c', 'cpp', 'cuda-cpp', 'python', 'llvm', 'mlir'];
const BESIDE = ['**/*.launch.{yaml,yml}', '**/*.zeinfo.{yaml,yml}', '**/*.{zeinfo,ze_info}'];

/** Whether any folder wants the vISA inside of other languages; which of them do, the server asks. */
function embedded(): boolean {
  const wanted = (scope?: vscode.Uri): boolean => vscode.workspace.getConfiguration('visa', scope).get('embedded.enabled', false);
  return wanted() || (vscode.workspace.workspaceFolders ?? []).some((folder) => wanted(folder.uri));
}

/** Keeps the client from formatting other languages: VS Code would ask which of two formatters is to be used from then on. */
function leaveFormatting(client: LanguageClient): void {
  const features = [
    client.getFeature('textDocument/formatting'),
    client.getFeature('textDocument/rangeFormatting'),
    client.getFeature('textDocument/onTypeFormatting'),
  ];
  for (const feature of features) {
    const initialize = feature.initialize.bind(feature);
    feature.initialize = (capabilities, selector) => {
      const ours = selector?.filter((filter) => typeof filter === 'string' || !('language' in filter) || !HOSTS.includes(filter.language ?? ''));
      initialize(capabilities, ours);
    };
  }
}

export { messageOf };

export type Show = (command: string, args: unknown[]) => Promise<unknown> | undefined;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private used: Program | undefined;
  private work: Promise<void> = Promise.resolve();
  private problem: unknown;
  private offered = false;
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

  /** What keeps the server from running: there is no program, or something else. */
  get lack(): 'program' | 'other' | undefined {
    return this.problem === undefined ? undefined : this.problem instanceof ProgramNotFound ? 'program' : 'other';
  }

  /** Whether the server can be asked. Where it cannot, what is missing is offered, and the answer is what came of that. */
  async ready(): Promise<boolean> {
    await this.work;
    if (this.client === undefined && this.problem !== undefined) {
      await this.mend(this.problem);
      await this.work;
    }
    return this.client !== undefined;
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
    await this.work;
    if (this.client === undefined && !this.offered) {
      this.offered = true; // one message, however many tests are run
      void this.ready().finally(() => (this.offered = false));
    }
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
        const words = `the language server was not installed: ${messageOf(error)}`;
        void this.mend(error instanceof WrongSetting ? new WrongSetting(error.setting, words) : new Error(words));
      }
      return;
    }
    await this.restart();
  }

  /** Whether the server in use is the one that this extension has installed. */
  get isPrivate(): boolean {
    return this.used?.origin === 'private';
  }

  /** Adds what proofs need to the private environment. */
  async installProver(): Promise<void> {
    await installProver(this.context, this.output);
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.used = undefined;
    this.problem = undefined;
    await client?.dispose().catch(() => undefined); // one that did not start cannot be stopped
    this.changed.fire();
  }

  private async startNow(): Promise<void> {
    try {
      const command = await this.program();
      const options: LanguageClientOptions = {
        documentSelector: [
          { language: 'visa' },
          { language: 'visa-launch' },
          ...BESIDE.map((pattern) => ({ scheme: 'file', pattern })),
          ...(embedded() ? HOSTS.map((language) => ({ language })) : []),
        ],
        outputChannelName: 'vISA Language Server',
        initializationOptions: { trusted: vscode.workspace.isTrusted, compiled: compiledFolder(this.context).toString() },
        middleware: {
          ...this.folds.middleware,
          ...debugLenses,
          executeCommand: (name, args, next) => this.show(name, args) ?? next(name, args),
        },
      };
      this.client = new LanguageClient('visa', 'vISA Language Server', { command, args: [] }, options);
      leaveFormatting(this.client);
      await this.client.start();
      this.output.appendLine(`started ${command} (${this.used?.origin})`);
    } catch (error) {
      this.client = undefined;
      this.problem = error;
      void this.mend(error);
    }
    this.changed.fire();
  }

  private async mend(problem: unknown): Promise<void> {
    this.output.appendLine(`vISA: ${messageOf(problem)}`);
    const remedy = await complain(problem);
    if (remedy === 'install') {
      await this.install();
    } else if (remedy === 'log') {
      this.output.show();
    }
  }
}
