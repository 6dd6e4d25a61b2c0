// The Run results panel: one panel for the window; it shows the last run and keeps it while it is hidden.

import * as vscode from 'vscode';
import { openAt, openPlace, panelOf } from '../views/webview.ts';
import type { WhyQuestion } from '../views/whytree.ts';
import type { Place, Report } from './report.ts';
import { buffersOf, withoutData, type ShownBuffer } from './shown.ts';

export interface Shown {
  title: string;
  report: Report;
  buffers: ShownBuffer[];
}

type FromView = { kind: 'ready' } | { kind: 'line'; line: number } | { kind: 'place'; place: Place } | { kind: 'again' } | { kind: 'why'; question: WhyQuestion };

export class ResultsPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown | undefined;
  private source: vscode.Uri | undefined;
  private again: (() => void) | undefined;
  private readonly context: vscode.ExtensionContext;
  private readonly why: (source: vscode.Uri, question: WhyQuestion) => void;

  constructor(context: vscode.ExtensionContext, why: (source: vscode.Uri, question: WhyQuestion) => void) {
    this.context = context;
    this.why = why;
  }

  dispose(): void {
    this.panel?.dispose();
  }

  /** What the panel shows; tests look at it. */
  get content(): Shown | undefined {
    return this.shown;
  }

  /** The last run, if it was one of a text. */
  reportOf(source: vscode.Uri): Report | undefined {
    return this.source?.toString() === source.toString() ? this.shown?.report : undefined;
  }

  show(title: string, report: Report, source: vscode.Uri | undefined, again: () => void): void {
    this.shown = { title, report: withoutData(report), buffers: buffersOf(report) };
    this.source = source;
    this.again = again;
    this.reveal();
  }

  reveal(): void {
    if (this.shown === undefined) {
      void vscode.window.showInformationMessage('vISA: nothing has been run yet.');
      return;
    }
    if (this.panel === undefined) {
      const panel = panelOf<FromView>(this.context, 'results', 'vISA Run', (message) => this.answer(message));
      panel.onDidDispose(() => (this.panel = undefined));
      this.panel = panel;
      return; // the view asks for its content when its script runs
    }
    this.panel.reveal(undefined, true);
    void this.panel.webview.postMessage(this.shown);
  }

  private async answer(message: FromView): Promise<void> {
    switch (message.kind) {
      case 'ready':
        await this.panel?.webview.postMessage(this.shown);
        break;
      case 'again':
        this.again?.();
        break;
      case 'why':
        if (this.source !== undefined) {
          const { launch, launchText } = this.shown?.report ?? {};
          this.why(this.source, { ...message.question, ...(launchText === undefined ? { launch } : { launchText }) });
        }
        break;
      case 'line':
        if (this.source !== undefined) {
          await openAt(this.source, message.line);
        }
        break;
      case 'place':
        await openPlace(this.source, message.place);
        break;
    }
  }
}
