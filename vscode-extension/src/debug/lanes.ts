// The Lanes view: the variables of the thread that stands still against its lanes, and the other threads of its group.

import * as vscode from 'vscode';
import { openAt, optionsFor, page } from '../views/webview.ts';
import type { Format, LanesAnswer, OperandLanes } from './answers.ts';
import type { LanesModel } from './model.ts';

const VIEW = 'visa.lanes';

export interface ShownLanes {
  answer: LanesAnswer;
  thread: number;
  operand: OperandLanes | undefined;
  format: Format;
}

type FromView = { kind: 'ready' } | { kind: 'thread'; thread: number } | { kind: 'format'; format: Format };

export class LanesView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private readonly revealed = new Set<string>(); // sessions for which the view came up by itself
  private readonly context: vscode.ExtensionContext;
  private readonly model: LanesModel;
  private readonly listeners: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, model: LanesModel) {
    this.context = context;
    this.model = model;
    this.listeners = [
      model.onDidChange(() => {
        this.reveal();
        void this.send();
      }),
      vscode.debug.onDidTerminateDebugSession((session) => this.revealed.delete(session.id)),
      vscode.window.registerWebviewViewProvider(VIEW, this, { webviewOptions: { retainContextWhenHidden: true } }),
    ];
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.options = optionsFor(this.context);
    view.webview.onDidReceiveMessage((message: FromView) => this.answer(message));
    view.onDidDispose(() => (this.view = undefined));
    view.webview.html = page(this.context, view.webview, 'lanes');
  }

  /** Comes up at the first stop of a session, without taking the focus. */
  private reveal(): void {
    const session = vscode.debug.activeDebugSession;
    if (this.model.current === undefined || session === undefined || this.revealed.has(session.id)) {
      return;
    }
    this.revealed.add(session.id);
    if (vscode.workspace.getConfiguration('visa').get<boolean>('showLanes', true)) {
      void vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: true });
    }
  }

  private async send(): Promise<void> {
    const stop = this.model.current;
    const { format } = this.model;
    const shown: ShownLanes | null = stop ? { answer: stop.answer, thread: stop.thread, operand: stop.operand, format } : null;
    await this.view?.webview.postMessage(shown);
  }

  private async answer(message: FromView): Promise<void> {
    if (message.kind === 'ready') {
      await this.send();
    } else if (message.kind === 'format') {
      this.model.format = message.format;
    } else {
      const stop = await this.model.choose(message.thread);
      if (stop !== undefined) {
        await openAt(stop.source, stop.answer.at.line);
      }
    }
  }
}
