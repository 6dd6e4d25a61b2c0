// OpenCL C sources: lenses that run, prove, debug and show a kernel, compiled before. The server writes the compiled program into
// the extension's storage, texts and ze_info together, so that every command works on a text there as on any other; they are
// read-only by a default of the manifest. What the compiler says is a problem of the source. A source that was compiled is
// compiled again when it is saved.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { isTrustedFor } from '../trusted.ts';
import { messageOf, type Server } from '../server/client.ts';
import { kernelAt, kernelsIn } from './kernels.ts';
import { setOrigin } from './origins.ts';

/** What `visa.compile` answers; lines and columns count from 1. */
interface Compiled {
  ok: boolean;
  error?: string;
  device?: string;
  platform?: string;
  kernels?: { name: string; simd: number; figures: string; path: string }[];
  findings?: { line: number; column: number; end_line: number; end_column: number; severity: string; code: string; message: string }[];
}

const SOURCES: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.{cl,clcpp,ocl}' };
const COMPILE = 'visa.compileFor';
const SHOW = 'visa.showKernelText';
const DEVICE = 'visa.device';

/** Whether commands for a text compile a file first. */
export function isSource(uri: vscode.Uri): boolean {
  return /\.(cl|clcpp|ocl)$/.test(uri.path);
}

export class SourceCompiler implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly built = new Map<string, Compiled>(); // by source, what came of it last
  private readonly problems = vscode.languages.createDiagnosticCollection('visa-compile');
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly devices: string[];
  private readonly parts: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, server: Server, devices: string[]) {
    this.context = context;
    this.server = server;
    this.devices = devices;
    this.parts = [
      this.problems,
      this.changed,
      server.onDidChange(() => this.changed.fire()),
      vscode.languages.registerCodeLensProvider(SOURCES, this),
      vscode.commands.registerCommand(COMPILE, (given?: vscode.Uri) => this.guarded(given, (uri) => this.compileFor(uri))),
      vscode.commands.registerCommand(SHOW, (given?: vscode.Uri, kernel?: string) => this.guarded(given, (uri) => this.show(uri, kernel))),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => this.again(uri)),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa.compileLens') && this.changed.fire()),
    ];
  }

  dispose(): void {
    this.parts.forEach((part) => part.dispose());
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const wanted = vscode.workspace.getConfiguration('visa', document).get('compileLens', true);
    if (!vscode.workspace.isTrusted || !this.server.running || !wanted) {
      return [];
    }
    const built = this.built.get(document.uri.toString());
    return kernelsIn(document.getText()).flatMap(({ name, line }) => {
      const place = new vscode.Range(line, 0, line, 0);
      const figures = built?.kernels?.find((kernel) => kernel.name === name)?.figures;
      const lens = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(place, { title, command, arguments: [document.uri, name] });
      return [
        lens('Run', 'visa.runKernel'),
        lens('Prove', 'visa.proveKernels'),
        lens('Debug', 'visa.debugKernel'),
        lens(figures === undefined ? 'Show vISA' : plain(`Show vISA (${figures})`), SHOW),
        lens('Compile for...', COMPILE),
      ];
    });
  }

  private async guarded(given: vscode.Uri | undefined, work: (uri: vscode.Uri) => Promise<unknown>): Promise<unknown> {
    const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri;
    if (uri === undefined) {
      void vscode.window.showWarningMessage('vISA: open an OpenCL source first.');
      return undefined;
    }
    if (!isTrustedFor('compiled')) {
      return undefined;
    }
    try {
      return (await this.server.ready()) ? await work(uri) : undefined;
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        void vscode.window.showErrorMessage(plain(`vISA: ${messageOf(error)}`));
      }
      return undefined;
    }
  }

  /** Asks for the device, and compiles for it. */
  private async compileFor(uri: vscode.Uri): Promise<void> {
    const last = this.device(uri);
    const first = this.devices.includes(last) ? [last] : [];
    const picked = await vscode.window.showQuickPick([...first, ...this.devices.filter((name) => name !== last)], {
      title: `Compile ${path.posix.basename(uri.path)} for`,
      placeHolder: 'The device, as visa-lsp calls its platform',
    });
    if (picked !== undefined) {
      await this.context.workspaceState.update(DEVICE, picked);
      await this.compile(uri, picked);
    }
  }

  /** Shows the text of a kernel. */
  private async show(uri: vscode.Uri, named?: string): Promise<vscode.TextDocument | undefined> {
    const text = await this.textOf(uri, named);
    return text && (await vscode.window.showTextDocument(text, { viewColumn: vscode.ViewColumn.Beside })).document;
  }

  /** The text of a kernel, by default that of the cursor; what was not compiled is compiled first. Undefined where there is none. */
  async textOf(uri: vscode.Uri, named?: string): Promise<vscode.Uri | undefined> {
    const document = await vscode.workspace.openTextDocument(uri);
    const known = document.isDirty ? undefined : this.built.get(uri.toString());
    const built = (known?.kernels?.length ?? 0) > 0 ? known! : await this.compile(uri, this.device(uri));
    const editor = vscode.window.visibleTextEditors.find((one) => one.document === document);
    const wanted = named ?? kernelAt(document.getText(), editor?.selection.active.line ?? 0);
    const kernel = built?.kernels?.find(({ name }) => name === wanted) ?? built?.kernels?.[0];
    return kernel && vscode.Uri.file(kernel.path);
  }

  private device(uri: vscode.Uri): string {
    const platform = vscode.workspace.getConfiguration('visa', uri).get('platform', '');
    return this.context.workspaceState.get<string>(DEVICE) ?? (platform || 'TGLLP');
  }

  /** Compiles a source, saved before; its problems and lenses are then new. */
  private async compile(uri: vscode.Uri, device: string): Promise<Compiled | undefined> {
    const document = await vscode.workspace.openTextDocument(uri);
    if (document.isDirty && !(await document.save())) {
      return undefined;
    }
    const title = `vISA: compiling ${path.posix.basename(uri.path)} for ${device}`;
    const where = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const answer = await vscode.window.withProgress(where, (_, token) => this.ask(uri, device, token));
    await this.take(uri, answer);
    if (!answer.ok) {
      const open = 'Open Setting';
      void vscode.window.showErrorMessage(plain(`vISA: not compiled: ${answer.error}`), open).then((chosen) => {
        if (chosen === open) {
          void vscode.commands.executeCommand('workbench.action.openSettings', 'visa.ocloc');
        }
      });
    } else if ((answer.kernels ?? []).length === 0) {
      const count = this.problems.get(uri)?.length ?? 0;
      const words = count === 0 ? 'there is no kernel in it' : 'the problems say why';
      void vscode.window.showErrorMessage(plain(`vISA: ${path.posix.basename(uri.path)} was not compiled: ${words}.`));
    }
    return answer;
  }

  private ask(uri: vscode.Uri, device: string, token?: vscode.CancellationToken): Promise<Compiled> {
    const settings = vscode.workspace.getConfiguration('visa', uri);
    const options = { uri: uri.toString(), device, tool: settings.get('ocloc', '').trim(), options: settings.get('compilerOptions', '-g') };
    return this.server.call<Compiled>('visa.compile', options, token);
  }

  private async take(uri: vscode.Uri, answer: Compiled): Promise<void> {
    if (answer.ok) {
      await Promise.all((answer.kernels ?? []).map(({ path: text }) => setOrigin(vscode.Uri.file(text), uri)));
      this.problems.set(uri, (answer.findings ?? []).map(problem));
      this.built.set(uri.toString(), answer);
    }
    this.changed.fire();
  }

  /** A source that was compiled is compiled again, quietly; open texts follow, as they do of any file. */
  private async again(uri: vscode.Uri): Promise<void> {
    const device = this.built.get(uri.toString())?.device;
    if (device === undefined || !this.server.running) {
      return;
    }
    const answer = await this.ask(uri, device).catch(() => undefined);
    if (answer?.ok) {
      await this.take(uri, answer);
    }
  }
}

function problem(finding: NonNullable<Compiled['findings']>[number]): vscode.Diagnostic {
  const { line, column, end_line, end_column, severity, code, message } = finding;
  const range = new vscode.Range(line - 1, column - 1, end_line - 1, end_column - 1);
  const { Error: Fault, Warning, Information } = vscode.DiagnosticSeverity;
  const made = new vscode.Diagnostic(range, message, severity === 'error' ? Fault : severity === 'warning' ? Warning : Information);
  made.source = 'ocloc';
  made.code = code;
  return made;
}
