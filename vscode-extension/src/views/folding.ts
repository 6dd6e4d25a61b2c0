// The header of a dump opens folded: the server calls its ranges imports, which the editor folds once, when a text is opened.
// It would fold them over the cursor, too; where a text is opened at a place inside of one, that one is no import here.

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

export class HeaderFolds implements vscode.Disposable {
  // By document: which of its headers, counted from the top, the cursor was in when it was opened.
  private readonly open = new Map<string, Set<number>>();
  private readonly listener = vscode.workspace.onDidCloseTextDocument(({ uri }) => this.open.delete(uri.toString()));

  readonly middleware: Pick<Middleware, 'provideFoldingRanges'> = {
    provideFoldingRanges: async (document, context, token, next) => {
      const ranges = await next(document, context, token);
      return ranges && this.unfolded(document, ranges);
    },
  };

  dispose(): void {
    this.listener.dispose();
  }

  private unfolded(document: vscode.TextDocument, ranges: vscode.FoldingRange[]): vscode.FoldingRange[] {
    const headers = ranges.filter((range) => range.kind === vscode.FoldingRangeKind.Imports);
    const uri = document.uri.toString();
    if (!this.open.has(uri) && headers.length > 0) {
      const editors = vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
      const lines = editors.flatMap((editor) => editor.selections.map((selection) => selection.active.line));
      const isSeen = (range: vscode.FoldingRange): boolean => lines.some((line) => range.start < line && line <= range.end);
      this.open.set(uri, new Set(headers.flatMap((range, number) => (isSeen(range) ? [number] : []))));
    }
    for (const number of this.open.get(uri) ?? []) {
      const range = headers[number];
      if (range !== undefined) {
        const comment = document.lineAt(range.start).text.trimStart().startsWith('//');
        range.kind = comment ? vscode.FoldingRangeKind.Comment : vscode.FoldingRangeKind.Region;
      }
    }
    return ranges;
  }
}
