// Asks the server for the figures of texts and keeps them as long as a text is as it was.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
import { kernelAt, type KernelFigures, type Stats } from './figures.ts';

/** The text has changed while it was counted: whoever needs figures asks once more. */
export class Edited extends Error {}

export class Statistics implements vscode.Disposable {
  private readonly server: Server;
  private readonly known = new Map<string, Promise<KernelFigures[]>>();
  private readonly listeners: vscode.Disposable[];

  constructor(server: Server) {
    this.server = server;
    const forget = (uri: vscode.Uri): unknown => this.known.delete(uri.toString());
    this.listeners = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => forget(document.uri)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => forget(uri)),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa.platform') && this.known.clear()),
      server.onDidChange(() => this.known.clear()),
    ];
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
  }

  /** The figures of a text's kernels; an exception says why there are none. */
  of(uri: vscode.Uri): Promise<KernelFigures[]> {
    const key = uri.toString();
    const known = this.known.get(key);
    if (known !== undefined) {
      return known;
    }
    const asked = this.ask(key);
    this.known.set(key, asked);
    asked.catch(() => this.known.get(key) === asked && this.known.delete(key));
    return asked;
  }

  /** The figures of the kernel of a line (from 1). */
  async at(uri: vscode.Uri, line: number): Promise<KernelFigures> {
    const kernel = kernelAt(await this.of(uri), line);
    if (kernel === undefined) {
      throw new Error('there is no instruction in this text');
    }
    return kernel;
  }

  private async ask(uri: string): Promise<KernelFigures[]> {
    let answer: Stats;
    do {
      answer = await this.server.call<Stats>('visa.stats', { uri, lives: 'all' });
    } while (answer.edited === true && this.known.has(uri)); // not edited: the server has taken over settings
    if (answer.edited === true) {
      throw new Edited(answer.error);
    }
    if (!answer.ok) {
      throw new Error(answer.error ?? 'the server gave no figures');
    }
    return answer.kernels ?? [];
  }
}
