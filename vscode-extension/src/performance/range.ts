// The lines where a variable is live, marked in the text until it is edited, or the mark is taken away.

import * as vscode from 'vscode';
import { lifeNamed, liveAt, rowWords, runWords, type KernelFigures, type Life } from './figures.ts';
import type { Statistics } from './stats.ts';

const NAME = /[\w$@?%-]+/;

export class LiveRange implements vscode.Disposable {
  private readonly style = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
    borderColor: new vscode.ThemeColor('editorInfo.foreground'),
    borderStyle: 'solid',
    borderWidth: '0 0 0 3px',
    overviewRulerLane: vscode.OverviewRulerLane.Center,
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.infoForeground'),
  });
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly statistics: Statistics;
  private readonly listeners: vscode.Disposable[];
  private marked: { uri: string; life: Life } | undefined;

  constructor(statistics: Statistics) {
    this.statistics = statistics;
    this.listeners = [
      this.changed,
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.uri.toString() === this.marked?.uri && contentChanges.length > 0) {
          this.mark(undefined);
        }
      }),
    ];
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
    this.style.dispose();
  }

  /** The variable whose lines are marked in a text. */
  in(uri: vscode.Uri | undefined): Life | undefined {
    return this.marked?.uri === uri?.toString() ? this.marked?.life : undefined;
  }

  /** Marks the variable under the cursor, else one that is chosen of those that are live there; once more takes the mark away. */
  async atCursor(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      return;
    }
    const { document, selection } = editor;
    const line = selection.active.line + 1;
    const kernel = await this.statistics.at(document.uri, line);
    const word = document.getWordRangeAtPosition(selection.active, NAME);
    const meant = word === undefined ? undefined : lifeNamed(kernel, document.getText(word));
    const life = meant ?? (await choose(kernel, line));
    if (life !== undefined) {
      this.toggle(document.uri, life);
    }
  }

  toggle(uri: vscode.Uri, life: Life): void {
    this.mark(this.in(uri)?.name === life.name ? undefined : { uri: uri.toString(), life });
  }

  private mark(marked: { uri: string; life: Life } | undefined): void {
    this.marked = marked;
    this.draw();
    this.changed.fire();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const life = this.in(editor.document.uri);
      const hoverMessage = life && new vscode.MarkdownString().appendText(`${life.name}: live in ${runWords(life.runs)}, ${rowWords(life.takes)}`);
      const ranges = (life?.runs ?? []).map(([first, last]) => ({ range: new vscode.Range(first - 1, 0, last - 1, 0), hoverMessage }));
      editor.setDecorations(this.style, ranges);
    }
  }
}

async function choose(kernel: KernelFigures, line: number): Promise<Life | undefined> {
  const items = liveAt(kernel, line).map((life) => ({ label: life.name, description: `${rowWords(life.takes)}, ${runWords(life.runs)}`, life }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage('vISA: no variable is live behind this line.');
    return undefined;
  }
  const title = `Live behind line ${line}`;
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'The variable whose lines are to be marked' }))?.life;
}
