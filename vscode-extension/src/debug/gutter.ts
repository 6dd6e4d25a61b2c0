// Where the threads of the group stand: in the gutter of each line that is some thread's next one. The line of the thread that
// is looked at has the editor's own arrow.

import * as vscode from 'vscode';
import { byLine, shortName, type ThreadLine } from './answers.ts';
import type { LanesModel } from './model.ts';

const MOST_NAMED = 8;

export class ThreadLines implements vscode.Disposable {
  private readonly style: vscode.TextEditorDecorationType;
  private readonly model: LanesModel;
  private readonly listeners: vscode.Disposable[];
  private told = new Map<number, string>();

  constructor(context: vscode.ExtensionContext, model: LanesModel) {
    this.model = model;
    const icon = (theme: string): vscode.Uri => vscode.Uri.joinPath(context.extensionUri, 'images', `thread-${theme}.svg`);
    this.style = vscode.window.createTextEditorDecorationType({
      gutterIconSize: 'contain',
      light: { gutterIconPath: icon('light') },
      dark: { gutterIconPath: icon('dark') },
      overviewRulerLane: vscode.OverviewRulerLane.Center,
      overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.infoForeground'),
      after: { margin: '0 0 0 2em', color: new vscode.ThemeColor('descriptionForeground') },
    });
    this.listeners = [model.onDidChange(() => this.draw()), vscode.window.onDidChangeVisibleTextEditors(() => this.draw())];
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
    this.style.dispose();
  }

  /** What stands at which line (from 1); tests of the extension ask. */
  get shown(): ReadonlyMap<number, string> {
    return this.told;
  }

  private draw(): void {
    const stop = this.model.current;
    const others = (stop?.answer.threads ?? []).filter((thread) => thread.id !== stop?.thread);
    const lines = byLine(others);
    this.told = new Map([...lines].map(([line, threads]) => [line, named(threads)]));
    for (const editor of vscode.window.visibleTextEditors) {
      const here = editor.document.uri.toString() === stop?.source.toString();
      editor.setDecorations(this.style, here ? decorations(lines, editor.document) : []);
    }
  }
}

function decorations(lines: Map<number, ThreadLine[]>, document: vscode.TextDocument): vscode.DecorationOptions[] {
  return [...lines].flatMap(([line, threads]) => {
    if (line < 1 || line > document.lineCount) {
      return []; // the text is another one by now
    }
    const hoverMessage = new vscode.MarkdownString().appendText(threads.map((thread) => thread.name).join('\n'));
    return [{ range: document.lineAt(line - 1).range, hoverMessage, renderOptions: { after: { contentText: named(threads) } } }];
  });
}

function named(threads: ThreadLine[]): string {
  const names = threads.slice(0, MOST_NAMED).map(shortName).join(', ');
  const more = threads.length > MOST_NAMED ? ` and ${threads.length - MOST_NAMED} more` : '';
  return `${threads.length === 1 ? 'thread' : 'threads'} ${names}${more}`;
}
