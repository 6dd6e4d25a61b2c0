// "Read as Code": the pseudo-code of a text beside it, as a document that cannot be edited. The lines of both that belong together are
// marked by the cursor in either. Edits are followed; of a text with errors the last good pseudo-code stays, with the reason above it.

import * as vscode from 'vscode';
import { messageOf, type Server } from '../server/client.ts';
import { CodeLines, type ReadAnswer } from './codelines.ts';
import { LineMap } from './linemap.ts';
import { markLines, partnerMark } from './partners.ts';

/** `visa-code:/NAME.visacode?URI OF THE TEXT`, as the server names it too. */
export const CODE_SCHEME = 'visa-code';
const PAUSE = 150; // milliseconds after a keystroke

interface Shown {
  text: vscode.Uri;
  code: CodeLines;
  lines: LineMap; // of the text since the pseudo-code was made
  timer?: NodeJS.Timeout;
}

export class CodeView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly server: Server;
  private readonly shown = new Map<string, Shown>(); // by the URI of the pseudo-code
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private mark: vscode.TextEditorDecorationType;
  private readonly parts: vscode.Disposable[];
  readonly onDidChange = this.changed.event;

  constructor(server: Server) {
    this.server = server;
    this.mark = partnerMark();
    this.parts = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(CODE_SCHEME, this),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.closed(uri)),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa') && this.again()),
      server.onDidChange(() => server.running && this.again()),
      // What a new text does to a cursor elsewhere is no move of the user.
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => textEditor === vscode.window.activeTextEditor && this.follow(textEditor)),
      vscode.window.onDidChangeActiveColorTheme(() => {
        this.mark.dispose();
        this.mark = partnerMark();
        this.shown.forEach(({ text }) => this.followText(text));
      }),
    ];
  }

  dispose(): void {
    this.shown.forEach(({ timer }) => clearTimeout(timer));
    this.parts.forEach((part) => part.dispose());
    this.mark.dispose();
  }

  /** Shows the pseudo-code of a text beside it; the cursor stays where it is. */
  async show(text: vscode.Uri): Promise<vscode.TextDocument> {
    const name = text.path.slice(text.path.lastIndexOf('/') + 1);
    const uri = vscode.Uri.from({ scheme: CODE_SCHEME, path: `/${name}.visacode`, query: text.toString() });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false });
    this.followText(text);
    return document;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const key = uri.toString();
    const before = this.shown.get(key);
    const text = vscode.Uri.parse(uri.query);
    // The server has to have the text before it is asked about it.
    const { lineCount } = await vscode.workspace.openTextDocument(text);
    const shown: Shown = { text, code: before?.code ?? new CodeLines(), lines: new LineMap(lineCount) };
    const old = before?.lines;
    this.shown.set(key, shown);
    let answer: ReadAnswer;
    try {
      answer = await this.server.call<ReadAnswer>('visa.read', { uri: text.toString() });
    } catch (error) {
      answer = { ok: false, error: messageOf(error) };
    }
    if (!answer.ok) {
      shown.lines = old ?? shown.lines; // the pseudo-code is still that of before
    }
    shown.code = shown.code.with(answer);
    return shown.code.text;
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    for (const [key, shown] of this.shown) {
      if (key === document.uri.toString()) {
        this.followText(shown.text);
      } else if (shown.text.toString() === document.uri.toString() && contentChanges.length > 0) {
        contentChanges.forEach((change) => shown.lines.edited(change));
        this.later(key, shown);
      }
    }
  }

  private later(key: string, shown: Shown): void {
    clearTimeout(shown.timer);
    shown.timer = setTimeout(() => this.changed.fire(vscode.Uri.parse(key)), PAUSE);
  }

  private again(): void {
    this.shown.forEach((shown, key) => this.later(key, shown));
  }

  private closed(uri: vscode.Uri): void {
    clearTimeout(this.shown.get(uri.toString())?.timer);
    this.shown.delete(uri.toString());
  }

  /** Marks the partners of the cursor of the text anew. */
  private followText(text: vscode.Uri): void {
    const editor = editorsOf(text)[0];
    if (editor !== undefined) {
      this.follow(editor);
    }
  }

  /** Marks the partners of the line of a cursor, and takes away the marks in its own document. */
  private follow(editor: vscode.TextEditor): void {
    const uri = editor.document.uri.toString();
    const { line } = editor.selection.active;
    for (const [key, { text, code, lines }] of this.shown) {
      const isCode = key === uri;
      if (!isCode && text.toString() !== uri) {
        continue;
      }
      const then = lines.then(line);
      const partners = isCode ? code.visaOf(line).flatMap((number) => lines.now(number) ?? []) : then === undefined ? [] : code.codeOf(then);
      editor.setDecorations(this.mark, []);
      markLines(this.mark, editorsOf(isCode ? text : vscode.Uri.parse(key)), partners);
    }
  }
}

function editorsOf(uri: vscode.Uri): vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === uri.toString());
}
