// OpenCL C sources: lenses that compile a kernel and show its text, which is a read-only document of the editor; what the
// compiler says is a problem of the source. A source that was compiled is compiled again when it is saved.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { isTrustedFor } from '../trusted.ts';
import { messageOf, type Server } from '../server/client.ts';
import { kernelsIn } from './kernels.ts';
import { PAGE_SCHEME, type Pages } from './pages.ts';

/** What `visa.compile` answers; lines and columns count from 1. */
interface Compiled {
  ok: boolean;
  error?: string;
  device?: string;
  platform?: string;
  kernels?: { name: string; simd: number; figures: string; text: string }[];
  findings?: { line: number; column: number; end_line: number; end_column: number; severity: string; code: string; message: string }[];
}

/** What a compiled text's document has in its URI. */
interface Made {
  uri: string;
  device: string;
  platform: string;
  kernel: string;
}

const SOURCES: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.{cl,clcpp,ocl}' };
const KIND = 'compiled';
const COMPILE = 'visa.compileFor';
const SHOW = 'visa.showKernelText';
const DEVICE = 'visa.device';

/** The source and the platform of a text that was compiled here; undefined of any other. */
export function originOf(text: vscode.Uri): { source: vscode.Uri; platform: string } | undefined {
  if (text.scheme !== PAGE_SCHEME || text.authority !== KIND) {
    return undefined;
  }
  const made = JSON.parse(text.query) as Made;
  return { source: vscode.Uri.parse(made.uri), platform: made.platform };
}

export class SourceCompiler implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly built = new Map<string, Compiled>(); // by source, what came of it last
  private readonly problems = vscode.languages.createDiagnosticCollection('visa-compile');
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly pages: Pages;
  private readonly devices: string[];
  private readonly parts: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, server: Server, pages: Pages, devices: string[]) {
    this.context = context;
    this.server = server;
    this.pages = pages;
    this.devices = devices;
    pages.register(KIND, (what) => this.text(JSON.parse(what) as Made));
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
      return [
        new vscode.CodeLens(place, { title: 'Compile for...', command: COMPILE, arguments: [document.uri] }),
        new vscode.CodeLens(place, { title: figures === undefined ? 'Show vISA' : plain(`Show vISA (${figures})`), command: SHOW, arguments: [document.uri, name] }),
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

  /** Shows the text of a kernel; what was not compiled is compiled first. */
  private async show(uri: vscode.Uri, named?: string): Promise<vscode.TextDocument | undefined> {
    const document = await vscode.workspace.openTextDocument(uri);
    const known = document.isDirty ? undefined : this.built.get(uri.toString());
    const built = (known?.kernels?.length ?? 0) > 0 ? known! : await this.compile(uri, this.device(uri));
    const kernels = built?.kernels ?? [];
    const kernel = kernels.find(({ name }) => name === named) ?? (kernels.length > 1 && named === undefined ? await choose(kernels) : kernels[0]);
    if (built === undefined || kernel === undefined) {
      return undefined;
    }
    const made: Made = { uri: uri.toString(), device: built.device ?? '', platform: built.platform ?? '', kernel: kernel.name };
    const text = await this.pages.open(KIND, `${kernel.name}.${made.device}.visaasm`, JSON.stringify(made));
    await vscode.window.showTextDocument(text, vscode.ViewColumn.Beside);
    return text;
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
    this.take(uri, answer);
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

  private take(uri: vscode.Uri, answer: Compiled): void {
    if (answer.ok) {
      this.problems.set(uri, (answer.findings ?? []).map(problem));
      this.built.set(uri.toString(), answer);
    }
    this.changed.fire();
  }

  /** A source that was compiled is compiled again, quietly; documents of its texts follow. */
  private async again(uri: vscode.Uri): Promise<void> {
    const device = this.built.get(uri.toString())?.device;
    if (device === undefined || !this.server.running) {
      return;
    }
    const answer = await this.ask(uri, device).catch(() => undefined);
    if (answer?.ok) {
      this.take(uri, answer);
      for (const { uri: text } of vscode.workspace.textDocuments) {
        if (originOf(text)?.source.toString() === uri.toString() && (answer.kernels ?? []).length > 0) {
          this.pages.refresh(text);
        }
      }
    }
  }

  /** The text of a document; one that was restored with the window is compiled anew. */
  private async text({ uri, device, kernel }: Made): Promise<string> {
    const known = this.built.get(uri);
    const answer = known?.device === device && (known.kernels ?? []).length > 0 ? known : await this.ask(vscode.Uri.parse(uri), device);
    const found = answer.kernels?.find(({ name }) => name === kernel);
    if (found === undefined) {
      throw new Error(answer.error ?? `there is no kernel ${kernel} any more`);
    }
    return found.text;
  }
}

async function choose(kernels: NonNullable<Compiled['kernels']>): Promise<NonNullable<Compiled['kernels']>[number] | undefined> {
  const picked = await vscode.window.showQuickPick(kernels.map(({ name, figures }) => ({ label: name, description: figures })), { title: 'Show the vISA of' });
  return kernels.find(({ name }) => name === picked?.label);
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
