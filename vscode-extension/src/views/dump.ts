// Native dumps (.asm): a lens at the first line with the figures, and lenses that lead to the kernel's vISA and ze_info.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';

/** What `visa.stats` answers for a dump. */
interface DumpAnswer {
  ok: boolean;
  dumps?: { summary: string; visa: string | null; ze_info: string | null }[];
}

const DUMPS: vscode.DocumentSelector = { scheme: 'file', language: 'gen-asm' };

export class DumpLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly server: Server;
  private readonly parts: vscode.Disposable[];
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(server: Server) {
    this.server = server;
    this.parts = [
      this.changed,
      server.onDidChange(() => this.changed.fire()),
      vscode.languages.registerCodeLensProvider(DUMPS, this),
      // Dumps open as plain text where their language is not guessed, as after another extension's claim on the ending.
      vscode.workspace.onDidOpenTextDocument((document) => void claim(document)),
    ];
    vscode.workspace.textDocuments.forEach((document) => void claim(document));
  }

  dispose(): void {
    this.parts.forEach((part) => part.dispose());
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const dump = this.server.running ? await this.of(document.uri) : undefined;
    const top = new vscode.Range(0, 0, 0, 0);
    const link = (title: string, path: string | null): vscode.CodeLens[] =>
      path === null ? [] : [new vscode.CodeLens(top, { title, command: 'vscode.open', arguments: [vscode.Uri.file(path)] })];
    return dump === undefined ? [] : [new vscode.CodeLens(top, { title: dump.summary, command: '' }), ...link('Open vISA', dump.visa), ...link('Open ze_info', dump.ze_info)];
  }

  private async of(uri: vscode.Uri): Promise<NonNullable<DumpAnswer['dumps']>[number] | undefined> {
    try {
      return (await this.server.call<DumpAnswer>('visa.stats', { uri: uri.toString() })).dumps?.[0];
    } catch {
      return undefined; // the server went away meanwhile
    }
  }
}

async function claim(document: vscode.TextDocument): Promise<void> {
  const isDump = document.uri.path.endsWith('.asm') && document.lineCount > 1 && document.lineAt(0).text.startsWith('//.kernel ');
  if (isDump && document.languageId !== 'gen-asm') {
    await vscode.languages.setTextDocumentLanguage(document, 'gen-asm');
  }
}
