// Texts that the server makes, as documents of the editor: they cannot be edited, so it never asks to save them.
// A document's URI says what is in it, so that it can be made again: its authority names the maker, its query what to make.

import * as vscode from 'vscode';
import { messageOf } from '../server/client.ts';

export const PAGE_SCHEME = 'visa-page';

type Maker = (what: string) => Promise<string>;

export class Pages implements vscode.TextDocumentContentProvider {
  private readonly makers = new Map<string, Maker>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** Says who makes the pages of a kind. */
  register(kind: string, maker: Maker): void {
    this.makers.set(kind, maker);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    try {
      const text = await this.makers.get(uri.authority)?.(uri.query);
      return text ?? '';
    } catch (error) {
      const mark = uri.path.endsWith('.yaml') ? '# ' : uri.path.endsWith('.md') ? '' : '// ';
      return `${mark}${messageOf(error).replaceAll('\n', `\n${mark}`)}\n`;
    }
  }

  /** A page is made anew where it is open. */
  refresh(uri: vscode.Uri): void {
    this.changed.fire(uri);
  }

  /** The document of a page, made anew; the name's ending tells its language. */
  async open(kind: string, name: string, what: string): Promise<vscode.TextDocument> {
    const uri = vscode.Uri.from({ scheme: PAGE_SCHEME, authority: kind, path: `/${name}`, query: what });
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open === undefined) {
      return vscode.workspace.openTextDocument(uri);
    }
    const text = await this.provideTextDocumentContent(uri);
    if (open.getText() !== text) {
      const arrived = new Promise<void>((resolve) => {
        const listener = vscode.workspace.onDidChangeTextDocument((change) => {
          if (change.document === open) {
            listener.dispose();
            resolve();
          }
        });
      });
      this.changed.fire(uri);
      await arrived;
    }
    return open;
  }
}
