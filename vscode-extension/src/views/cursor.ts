// Tells the server on which line the cursor is, where it shows hints for that line alone; it asks for new hints then.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';

export class CursorLine implements vscode.Disposable {
  private readonly listeners: vscode.Disposable[];
  private readonly server: Server;
  private told = '';

  constructor(server: Server) {
    this.server = server;
    this.listeners = [
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.tell(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.tell(editor)),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa.inlayHints') && this.again()),
      server.onDidChange(() => this.again()),
    ];
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
  }

  private again(): void {
    this.told = '';
    const editor = vscode.window.activeTextEditor;
    if (editor !== undefined) {
      this.tell(editor);
    }
  }

  private tell({ document, selection }: vscode.TextEditor): void {
    const wanted = vscode.workspace.getConfiguration('visa', document.uri).get<{ types?: unknown }>('inlayHints')?.types;
    if (document.languageId !== 'visa' || wanted !== 'cursorLine' || !this.server.running) {
      return;
    }
    const uri = document.uri.toString();
    const now = `${uri}:${selection.active.line}`;
    if (now !== this.told) {
      this.told = now;
      this.server.notify('visa/didChangeCursor', { uri, line: selection.active.line });
    }
  }
}
