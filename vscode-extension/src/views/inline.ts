// What the last run has left, written behind the lines that it is about. The editor itself asks for inline values in a
// debug session only; here they are asked for after a run and when a text changes.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';

interface InlineValue {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  text?: string;
}

const PAUSE = 300; // milliseconds after a keystroke

export class InlineValues implements vscode.Disposable {
  private readonly style = vscode.window.createTextEditorDecorationType({
    // An inlay hint of the same line stands on either side: a value is set off from both.
    after: { margin: '0 1.5em 0 2em', color: new vscode.ThemeColor('editorInlayHint.foreground') },
  });
  private readonly listeners: vscode.Disposable[];
  private readonly server: Server;
  private readonly shown = new Map<string, string[]>();
  private timer: NodeJS.Timeout | undefined;

  constructor(server: Server) {
    this.server = server;
    this.listeners = [
      vscode.window.onDidChangeVisibleTextEditors(() => this.later()),
      vscode.workspace.onDidChangeTextDocument((change) => change.document.languageId === 'visa' && this.later()),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa.inlineValues') && this.later()),
      server.onDidChange(() => this.later()),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.forEach((listener) => listener.dispose());
    this.style.dispose();
  }

  /** What stands behind the lines of a document; tests of the extension ask. */
  of(uri: vscode.Uri): string[] {
    return this.shown.get(uri.toString()) ?? [];
  }

  /** Asks for the values of every text that is to be seen. */
  async update(): Promise<void> {
    await Promise.all(vscode.window.visibleTextEditors.filter((e) => e.document.languageId === 'visa').map((e) => this.one(e)));
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), PAUSE);
  }

  private async one(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    const wanted = vscode.workspace.getConfiguration('visa', document.uri).get<boolean>('inlineValues', true);
    const version = document.version;
    const range = { start: { line: 0, character: 0 }, end: { line: document.lineCount, character: 0 } };
    const params = { textDocument: { uri: document.uri.toString() }, range, context: { frameId: 0, stoppedLocation: range } };
    const values = wanted && this.server.running ? await this.server.ask<InlineValue[] | null>('textDocument/inlineValue', params).catch(() => null) : null;
    if (document.version !== version) {
      return; // another answer follows
    }
    const found = (values ?? []).filter((value) => value.text !== undefined);
    editor.setDecorations(
      this.style,
      found.map(({ range: at, text }) => ({
        range: document.lineAt(Math.min(at.end.line, document.lineCount - 1)).range,
        renderOptions: { after: { contentText: text! } },
      })),
    );
    this.shown.set(document.uri.toString(), found.map((value) => value.text!));
  }
}
