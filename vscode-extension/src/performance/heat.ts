// The heat of the last profiled run, else of the finalizer's schedule: a bar in the gutter of each line, words behind the hottest. An edit takes it away, since
// the figures are those of the text that ran.

import * as vscode from 'vscode';
import { heatOf, hotLines, HOTTEST, hottest, MEASURES, type Heat, type Measure, type Profile } from './profile.ts';

const MOST_WORDS = 20; // lines that have words behind them
const COLOURS = {
  light: ['#c9a227', '#c98a1b', '#c66a12', '#bf4410', '#a81616'],
  dark: ['#8a7a2a', '#b08a2a', '#d08a2c', '#e2702c', '#f14c4c'],
};
const NAMES: Record<Measure, [label: string, description: string]> = {
  executions: ['Executions', 'how often each line was executed'],
  idle: ['Idle lanes', 'lanes that a line was executed for without doing anything'],
  traffic: ['Traffic', 'cache lines that messages touch, rounds of the banks of shared local memory'],
};

export class HeatLines implements vscode.Disposable {
  private readonly bars: vscode.TextEditorDecorationType[];
  private readonly words = vscode.window.createTextEditorDecorationType({
    after: { margin: '0 0 0 2em', color: new vscode.ThemeColor('editorInlayHint.foreground') },
  });
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly profiles = new Map<string, Profile>();
  private readonly schedules = new Map<string, Map<number, Heat>>();
  private readonly listeners: vscode.Disposable[];

  constructor() {
    this.bars = Array.from({ length: HOTTEST }, (_, n) =>
      vscode.window.createTextEditorDecorationType({
        gutterIconSize: 'contain',
        light: { gutterIconPath: bar(n + 1, COLOURS.light[n]!) },
        dark: { gutterIconPath: bar(n + 1, COLOURS.dark[n]!) },
        ...(n + 1 === HOTTEST && {
          overviewRulerLane: vscode.OverviewRulerLane.Left,
          overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.warningForeground'),
        }),
      }),
    );
    this.listeners = [
      this.changed,
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa.heat') && this.draw()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const key = document.uri.toString();
        // Both are figures of the text before the edit.
        if (contentChanges.length > 0 && [this.profiles.delete(key), this.schedules.delete(key)].includes(true)) {
          this.draw();
        }
      }),
    ];
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
    [...this.bars, this.words].forEach((style) => style.dispose());
  }

  /** Shows what a run of a text has told. */
  show(uri: vscode.Uri, profile: Profile): void {
    this.profiles.set(uri.toString(), profile);
    this.draw();
  }

  /** Shows the schedule of a text's machine code, as long as no run has told more. */
  showSchedule(uri: vscode.Uri, heat: Map<number, Heat>): void {
    this.schedules.set(uri.toString(), heat);
    this.draw();
  }

  /** The heat of the lines of a text, from 1; empty where none is shown. */
  of(uri: vscode.Uri): Map<number, Heat> {
    const profile = this.profiles.get(uri.toString());
    const measure = vscode.workspace.getConfiguration('visa').get<Measure | 'off'>('heat', 'executions');
    const schedule = this.schedules.get(uri.toString());
    if (schedule !== undefined && profile === undefined && measure !== 'off') {
      return schedule;
    }
    return profile === undefined || !MEASURES.includes(measure as Measure) ? new Map<number, Heat>() : heatOf(profile, measure as Measure);
  }

  /** The heat of a stretch of lines, from 0. */
  between(uri: vscode.Uri, first: number, last: number): Heat | undefined {
    return hottest(this.of(uri), first + 1, last + 1);
  }

  /** Asks what is to be shown. */
  async choose(): Promise<void> {
    const items = [
      ...MEASURES.map((measure) => ({ label: NAMES[measure][0], description: NAMES[measure][1], measure: measure as string })),
      { label: 'Off', description: 'no heat', measure: 'off' },
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: 'Heat', placeHolder: 'What is shown beside the lines after a run with profile' });
    if (chosen !== undefined) {
      await vscode.workspace.getConfiguration('visa').update('heat', chosen.measure, vscode.ConfigurationTarget.Global);
    }
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const heat = this.of(editor.document.uri);
      this.bars.forEach((style, n) => {
        const lines = [...heat].filter(([, { level }]) => level === n + 1);
        editor.setDecorations(style, lines.flatMap(([line, { words }]) => at(editor.document, line, words)));
      });
      const hot = hotLines(heat).slice(0, MOST_WORDS);
      editor.setDecorations(this.words, hot.flatMap((line) => at(editor.document, line, undefined, heat.get(line)!.words)));
    }
    this.changed.fire();
  }
}

function at(document: vscode.TextDocument, line: number, hover: string | undefined, after?: string): vscode.DecorationOptions[] {
  if (line < 1 || line > document.lineCount) {
    return [];
  }
  const hoverMessage = hover === undefined ? undefined : new vscode.MarkdownString().appendText(hover);
  const renderOptions = after === undefined ? undefined : { after: { contentText: after } };
  return [{ range: document.lineAt(line - 1).range, ...(hoverMessage && { hoverMessage }), ...(renderOptions && { renderOptions }) }];
}

/** A bar that is the wider the hotter, so that nobody has to tell colours apart. */
function bar(level: number, colour: string): vscode.Uri {
  const width = 2 + 2.4 * level;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect x="1" y="3" width="${width}" height="10" fill="${colour}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}
