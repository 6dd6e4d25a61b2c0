// The command "Prove": its answers in a panel, lines that a launch refutes as warnings, lines without an answer as hints, and
// lenses that run and debug the launches. All but the panel hold until the next proof or edit of the text. The launches are files
// in the extension's storage.

import { createHash } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { isTrustedFor } from '../trusted.ts';
import { messageOf as wordsOf, type Server } from '../server/client.ts';
import { openAt, openPlace, panelOf } from '../views/webview.ts';
import { lineOf, locate } from './marks.ts';
import { kernelsOf, launchName, messageOf, summaryOf, withProgram, type Proof, type ProofAnswer, type ShownProof } from './proof.ts';
import type { Place } from './report.ts';

type FromView =
  | { kind: 'ready' | 'again' | 'assume' }
  | { kind: 'line'; line: number }
  | { kind: 'place'; place: Place }
  | { kind: 'launch'; file: string; how: 'run' | 'debug' | 'open' };

/** A launch that refutes: where, what it shows, its file. */
interface Refutation {
  place: vscode.Location;
  property: string;
  file: string;
}

export class Prover implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly marks = vscode.languages.createDiagnosticCollection('visa-prove');
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly assumed = new Map<string, string[]>(); // by the URI of the text
  private refutations: Refutation[] = [];
  private panel: vscode.WebviewPanel | undefined;
  private shown: { uri: vscode.Uri; page: ShownProof } | undefined;
  private readonly listeners: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, server: Server) {
    this.context = context;
    this.server = server;
    this.listeners = [
      this.marks,
      this.changed,
      vscode.languages.registerCodeLensProvider([{ scheme: 'file', language: 'visa' }, { scheme: 'file', language: 'opencl' }], this),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => contentChanges.length > 0 && this.forget(document.uri)),
    ];
  }

  dispose(): void {
    this.listeners.forEach((one) => one.dispose());
    this.panel?.dispose();
  }

  /** What the panel shows; tests look at it. */
  get content(): ShownProof | undefined {
    return this.shown?.page;
  }

  /** Proves a text or an object under the assumptions that were given for it, and shows the answers. */
  async prove(uri: vscode.Uri): Promise<ProofAnswer | undefined> {
    if (!isTrustedFor('run')) {
      return undefined;
    }
    const key = uri.toString();
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === key);
    const version = open?.version;
    const answer = await this.ask(uri);
    if (answer === undefined) {
      return undefined;
    }
    if (!answer.ok) {
      void this.complain(uri, answer.error ?? '');
      return answer;
    }
    const results = answer.results ?? [];
    const files = await this.write(uri, results);
    if (open?.version === version) {
      this.mark(uri, results, files);
    }
    const page = { title: path.basename(uri.path), assumed: this.assumed.get(key) ?? [], summary: summaryOf(results), kernels: kernelsOf(results, (one) => files.get(one) ?? '') };
    this.shown = { uri, page };
    this.reveal();
    return answer;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    return this.refutations
      .filter(({ place }) => place.uri.toString() === document.uri.toString())
      .flatMap(({ place, property, file }) => {
        const lens = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(place.range, { title, command, arguments: [vscode.Uri.file(file)] });
        return [lens(`${property}: Run`, 'visa.runKernel'), lens('Debug', 'visa.debugKernel')];
      });
  }

  /** The answer; undefined where the proof was cancelled. */
  private async ask(uri: vscode.Uri): Promise<ProofAnswer | undefined> {
    const options = { location: vscode.ProgressLocation.Notification, title: `vISA: proving ${path.basename(uri.path)}`, cancellable: true };
    return vscode.window.withProgress(options, async (_, token) => {
      try {
        return await this.server.call<ProofAnswer>('visa.prove', { uri: uri.toString(), assume: this.assumed.get(uri.toString()) ?? [] }, token);
      } catch (error) {
        if (token.isCancellationRequested) {
          return undefined;
        }
        throw error;
      }
    });
  }

  private async complain(uri: vscode.Uri, error: string): Promise<void> {
    const install = 'Install Z3';
    const offers = this.server.isPrivate && error.includes('visa-lsp[prove]') ? [install] : [];
    if ((await vscode.window.showErrorMessage(plain(`vISA: not proved: ${error}`), ...offers)) === install) {
      await this.guarded(async () => {
        await this.server.installProver();
        await this.prove(uri);
      });
    }
  }

  private async guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        void vscode.window.showErrorMessage(plain(`vISA: ${wordsOf(error)}`));
      }
    }
  }

  private reveal(): void {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      void this.panel.webview.postMessage(this.shown?.page);
      return;
    }
    this.panel = panelOf<FromView>(this.context, 'proof', 'vISA Proof', (message) => this.guarded(() => this.answer(message)));
    this.panel.onDidDispose(() => (this.panel = undefined));
  }

  private async answer(message: FromView): Promise<unknown> {
    const { uri, page } = this.shown!;
    switch (message.kind) {
      case 'ready':
        return this.panel?.webview.postMessage(page);
      case 'again':
        return this.prove(uri);
      case 'assume':
        return this.assume(uri);
      case 'line':
        return openAt(uri, message.line);
      case 'place':
        return openPlace(uri, message.place);
      case 'launch':
        return vscode.commands.executeCommand({ run: 'visa.runKernel', debug: 'visa.debugKernel', open: 'vscode.open' }[message.how], vscode.Uri.file(message.file));
    }
  }

  /** Takes other assumptions, and proves again. */
  private async assume(uri: vscode.Uri): Promise<void> {
    const given = await vscode.window.showInputBox({
      title: 'Assume of every launch',
      prompt: 'Conditions with semicolons between, such as n <= groups*local_size; len(y) >= n',
      value: (this.assumed.get(uri.toString()) ?? []).join('; '),
    });
    if (given !== undefined) {
      this.assumed.set(uri.toString(), given.split(';').map((one) => one.trim()).filter((one) => one !== ''));
      await this.prove(uri);
    }
  }

  private forget(changed: vscode.Uri): void {
    if (this.marks.has(changed)) {
      this.marks.clear();
      this.refutations = [];
      this.changed.fire();
    }
  }

  /** Writes the launches that refute, each once, into an empty folder for the text. */
  private async write(uri: vscode.Uri, results: Proof[]): Promise<Map<Proof, string>> {
    const name = createHash('sha256').update(uri.toString()).digest('hex').slice(0, 16);
    const folder = vscode.Uri.joinPath(this.context.storageUri ?? this.context.globalStorageUri, 'proofs', name);
    await vscode.workspace.fs.delete(folder, { recursive: true }).then(undefined, () => undefined); // there may be none
    const [texts, files] = [new Map<string, string>(), new Map<Proof, string>()];
    for (const one of uri.scheme === 'file' ? results : []) {
      if (one.launch !== undefined) {
        const target = vscode.Uri.joinPath(folder, launchName(one));
        const file = texts.get(`${one.property} ${one.launch}`) ?? target.fsPath;
        if (file === target.fsPath) {
          await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(withProgram(one.launch, uri.fsPath)));
        }
        texts.set(`${one.property} ${one.launch}`, file);
        files.set(one, file);
      }
    }
    return files;
  }

  /** Marks the lines that are not proved, in the text and in its source. */
  private mark(uri: vscode.Uri, results: Proof[], files: Map<Proof, string>): void {
    const marks = new Map<string, vscode.Diagnostic[]>();
    this.refutations = [];
    for (const one of results.filter(({ answer }) => answer !== 'proved')) {
      const severity = one.answer === 'refuted' ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Hint;
      const file = files.get(one);
      const source = one.answer === 'refuted' && one.source !== undefined ? locate(uri, one.source) : undefined;
      for (const place of [lineOf(uri, one.line), ...(source === undefined ? [] : [source])]) {
        const mark = new vscode.Diagnostic(place.range, messageOf(one), severity);
        mark.source = 'prove';
        mark.code = one.property;
        if (file !== undefined) {
          const target = vscode.Uri.file(file);
          mark.code = { value: one.property, target };
          mark.relatedInformation = [new vscode.DiagnosticRelatedInformation(new vscode.Location(target, new vscode.Position(0, 0)), 'the launch that shows it')];
        }
        const key = place.uri.toString();
        const [known, line] = [marks.get(key) ?? [], place.range.start.line];
        if (!known.some((other) => other.range.start.line === line && other.message === mark.message)) {
          marks.set(key, [...known, mark]);
        }
        if (file !== undefined && !this.refutations.some((other) => other.place.uri.toString() === key && other.place.range.start.line === line && other.property === one.property)) {
          this.refutations.push({ place, property: one.property, file });
        }
      }
    }
    this.marks.set([...marks].map(([key, found]) => [vscode.Uri.parse(key), found]));
    this.changed.fire();
  }
}
