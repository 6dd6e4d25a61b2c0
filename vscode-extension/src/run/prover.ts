// The command "Prove": lines that a launch refutes are warnings with that launch, lines without an answer are hints. They hold until
// the next proof or edit of the text. The launches are files in the extension's storage, which can be run and debugged.

import { createHash } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { isTrustedFor } from '../trusted.ts';
import { messageOf as wordsOf, type Server } from '../server/client.ts';
import type { Pages } from '../views/pages.ts';
import { lineOf } from './marks.ts';
import { launchName, messageOf, summaryOf, withProgram, type Proof, type ProofAnswer } from './proof.ts';

const KIND = 'proof';

export class Prover implements vscode.Disposable {
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly pages: Pages;
  private readonly marks = vscode.languages.createDiagnosticCollection('visa-prove');
  private readonly reports = new Map<string, string>(); // by the URI of the text
  private readonly assumed = new Map<string, string[]>();
  private readonly listeners: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, server: Server, pages: Pages) {
    this.context = context;
    this.server = server;
    this.pages = pages;
    pages.register(KIND, async (uri) => this.reports.get(uri) ?? '');
    this.listeners = [
      this.marks,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => contentChanges.length > 0 && this.marks.delete(document.uri)),
    ];
  }

  dispose(): void {
    this.listeners.forEach((one) => one.dispose());
  }

  /** Proves a text or an object under the assumptions that were given for it, and shows what is not proved. */
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
    this.reports.set(key, answer.text ?? '');
    if (open?.version === version) {
      await this.mark(uri, answer.results ?? []);
    }
    void this.sum(uri, answer.results ?? []);
    return answer;
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

  private async sum(uri: vscode.Uri, results: Proof[]): Promise<void> {
    const [show, assume] = ['Show Answers', 'Assume...'] as const;
    const words = plain(`vISA: ${path.basename(uri.path)}: ${summaryOf(results)}.`);
    const tell = results.some((one) => one.answer === 'refuted') ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    const chosen = await tell<string>(words, show, assume);
    if (chosen === show) {
      await this.guarded(() => this.show(uri));
    } else if (chosen === assume) {
      await this.guarded(() => this.assume(uri));
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

  /** Opens the report with the assumptions of the last proof. */
  async show(uri: vscode.Uri): Promise<vscode.TextDocument> {
    const document = await this.pages.open(KIND, `${path.basename(uri.path)}.proof.txt`, uri.toString());
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true);
    return document;
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

  private async mark(uri: vscode.Uri, results: Proof[]): Promise<void> {
    const folder = await this.folderOf(uri);
    const marks: vscode.Diagnostic[] = [];
    for (const one of results.filter(({ answer }) => answer !== 'proved')) {
      const severity = one.answer === 'refuted' ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Hint;
      const mark = new vscode.Diagnostic(lineOf(uri, one.line).range, messageOf(one), severity);
      mark.source = 'prove';
      mark.code = one.property;
      if (one.launch !== undefined && uri.scheme === 'file') {
        const target = vscode.Uri.joinPath(folder, launchName(one));
        await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(withProgram(one.launch, uri.fsPath)));
        mark.code = { value: one.property, target };
        mark.relatedInformation = [new vscode.DiagnosticRelatedInformation(new vscode.Location(target, new vscode.Position(0, 0)), 'the launch that shows it')];
      }
      marks.push(mark);
    }
    this.marks.set(uri, marks);
  }

  /** The empty folder for the launches of a text. */
  private async folderOf(uri: vscode.Uri): Promise<vscode.Uri> {
    const name = createHash('sha256').update(uri.toString()).digest('hex').slice(0, 16);
    const folder = vscode.Uri.joinPath(this.context.storageUri ?? this.context.globalStorageUri, 'proofs', name);
    await vscode.workspace.fs.delete(folder, { recursive: true }).then(undefined, () => undefined); // there may be none
    await vscode.workspace.fs.createDirectory(folder);
    return folder;
  }
}
