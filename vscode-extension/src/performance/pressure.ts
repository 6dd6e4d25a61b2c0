// The register pressure view: the curve of the kernel that the cursor is in, its peak, and what is live behind a line.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../server/client.ts';
import { lineInFront } from '../views/texts.ts';
import { openAt, panelOf } from '../views/webview.ts';
import { figuresAt, lifeNamed, liveAt, points, rowWords, runWords, type KernelFigures, type Point } from './figures.ts';
import type { LiveRange } from './range.ts';
import { Edited, type Statistics } from './stats.ts';

const MOST_POINTS = 1500; // more than a screen has columns
const MOST_LIVE = 200;
const PAUSE = 300; // milliseconds after a keystroke

/** What is known of a line: the page shows it as it is. */
export interface Look {
  line: number;
  pressure: number;
  depth: number;
  live: { name: string; takes: string; runs: string }[];
  more: number; // variables that are not listed
}

export interface ShownPressure {
  title: string;
  error: string;
  name: string;
  rowBytes: number;
  max: number;
  peak: number; // the first line that takes the most
  points: Point[];
  marked: { name: string; runs: [number, number][] } | undefined; // the variable whose lines are marked in the text
  look: Look | undefined;
}

type FromView = { kind: 'ready' } | { kind: 'line' | 'look'; line: number } | { kind: 'variable'; name: string };

export class PressureView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: ShownPressure | undefined;
  private kernel: KernelFigures | undefined;
  private source: vscode.Uri | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly context: vscode.ExtensionContext;
  private readonly statistics: Statistics;
  private readonly range: LiveRange;
  private readonly listeners: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, statistics: Statistics, range: LiveRange) {
    this.context = context;
    this.statistics = statistics;
    this.range = range;
    this.listeners = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.isShown(document) && this.later()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        if (this.isShown(textEditor.document)) {
          this.follow(selections[0]!.active.line + 1);
        }
      }),
      range.onDidChange(() => this.marks()),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.forEach((listener) => listener.dispose());
    this.panel?.dispose();
  }

  get content(): ShownPressure | undefined {
    return this.shown;
  }

  async show(uri: vscode.Uri): Promise<void> {
    this.source = uri;
    await this.count();
    this.reveal();
  }

  private async count(): Promise<void> {
    const uri = this.source!;
    const line = (lineInFront(uri) ?? 0) + 1;
    const empty = { title: path.basename(uri.path), error: '', name: '', rowBytes: 0, max: 0, peak: 0, points: [], marked: undefined, look: undefined };
    try {
      this.kernel = await this.statistics.at(uri, line);
      const { name, grf_bytes: rowBytes, pressure, lines } = this.kernel;
      const peak = pressure.line ?? lines[0]!.line;
      this.shown = { ...empty, name, rowBytes, max: pressure.max, peak, points: points(lines, MOST_POINTS), marked: this.marked(), look: this.lookAt(line) };
    } catch (error) {
      if (error instanceof Edited) {
        this.later();
        return;
      }
      this.kernel = undefined;
      this.shown = { ...empty, error: messageOf(error) };
    }
  }

  private isShown(document: vscode.TextDocument): boolean {
    return this.panel !== undefined && document.uri.toString() === this.source?.toString();
  }

  /** Tells of the line of the cursor; in another kernel that one's curve comes instead. */
  private follow(line: number): void {
    const { kernel, shown } = this;
    if (kernel === undefined || shown === undefined || line < (kernel.lines[0]?.line ?? 0) || line > (kernel.lines.at(-1)?.line ?? 0)) {
      this.later();
    } else {
      this.tell(line);
    }
  }

  private tell(line: number): void {
    if (this.shown !== undefined) {
      this.shown.look = this.lookAt(line);
      void this.panel?.webview.postMessage({ look: this.shown.look });
    }
  }

  private lookAt(line: number): Look | undefined {
    if (this.kernel === undefined) {
      return undefined;
    }
    const { line: at, pressure, loop_depth: depth } = figuresAt(this.kernel, line);
    const live = liveAt(this.kernel, at);
    const listed = live.slice(0, MOST_LIVE).map(({ name, takes, runs }) => ({ name, takes: rowWords(takes), runs: runWords(runs) }));
    return { line: at, pressure, depth, live: listed, more: live.length - listed.length };
  }

  private marked(): ShownPressure['marked'] {
    const life = this.range.in(this.source);
    return life && { name: life.name, runs: life.runs };
  }

  private marks(): void {
    if (this.shown !== undefined) {
      this.shown.marked = this.marked();
      void this.panel?.webview.postMessage({ marked: this.shown.marked ?? null });
    }
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (this.source !== undefined && this.panel !== undefined) {
        await this.count();
        await this.panel?.webview.postMessage(this.shown);
      }
    }, PAUSE);
  }

  private reveal(): void {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      void this.panel.webview.postMessage(this.shown);
      return;
    }
    const panel = panelOf<FromView>(this.context, 'pressure', 'vISA Register Pressure', (message) => this.answer(message));
    panel.onDidDispose(() => (this.panel = undefined));
    this.panel = panel;
  }

  private async answer(message: FromView): Promise<void> {
    if (message.kind === 'ready') {
      await this.panel?.webview.postMessage(this.shown);
    } else if (message.kind === 'look') {
      this.tell(message.line);
    } else if (message.kind === 'variable') {
      const life = this.kernel && lifeNamed(this.kernel, message.name);
      if (life !== undefined && this.source !== undefined) {
        this.range.toggle(this.source, life);
      }
    } else if (this.source !== undefined) {
      await openAt(this.source, message.line);
    }
  }
}
