// The form of a quick run: sizes and arguments of a kernel, with defaults from ze_info; what is entered is run, or kept as a
// launch file.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { messageOf, type Server } from '../server/client.ts';
import { isThere, launchFileOf } from '../views/origins.ts';
import { openAt, panelOf } from '../views/webview.ts';
import { placeIn } from './report.ts';
import type { Quick } from './runner.ts';
import { plain } from '../plain.ts';

/** An argument as `visa.launchTemplate` tells it; `launch` is its default, as a launch file would have it. */
export interface FormArgument {
  index: number;
  name: string;
  kind: 'buffer' | 'value' | 'local' | 'image' | 'sampler';
  launch: Record<string, unknown>;
}

export interface FormContent {
  title: string;
  fresh: boolean; // shown anew; else another kernel of the form that is shown
  error: string;
  kernel: string;
  kernels: string[];
  groups: number[];
  localSize: number[];
  arguments: FormArgument[];
}

/** Why a choice cannot be shown: the form stays as it is. */
export interface FormProblem {
  problem: string;
}

interface Template extends Partial<FormContent> {
  ok: boolean;
  path?: string | null;
  text?: string;
}

type FromView =
  | { kind: 'ready' }
  | { kind: 'run'; quick: Quick }
  | { kind: 'save'; quick: Quick }
  | { kind: 'kernel'; name: string }
  | { kind: 'place'; text: string };

export class QuickForm implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: FormContent | undefined;
  private source: vscode.Uri | undefined;
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly run: (uri: vscode.Uri, quick: Quick) => Promise<unknown>;

  constructor(context: vscode.ExtensionContext, server: Server, run: (uri: vscode.Uri, quick: Quick) => Promise<unknown>) {
    this.context = context;
    this.server = server;
    this.run = run;
  }

  dispose(): void {
    this.panel?.dispose();
  }

  /** What the form shows; tests look at it. */
  get content(): FormContent | undefined {
    return this.shown;
  }

  async show(uri: vscode.Uri, kernel?: string): Promise<void> {
    this.source = uri;
    const title = path.basename(uri.path);
    let told: Template & { error?: string };
    try {
      told = await this.server.call<Template>('visa.launchTemplate', { uri: uri.toString(), ...(kernel && { kernel }) });
    } catch (error) {
      told = { ok: false, error: messageOf(error) };
    }
    const { kernels = [], groups = [1, 1, 1], localSize = [1, 1, 1] } = told;
    const error = told.ok ? '' : (told.error ?? 'the server knows no arguments');
    if (error !== '' && kernel !== undefined) {
      const problem: FormProblem = { problem: error };
      await this.panel?.webview.postMessage(problem);
      return;
    }
    this.shown = {
      title,
      fresh: kernel === undefined,
      error,
      kernel: told.kernel ?? '',
      kernels,
      groups,
      localSize,
      arguments: told.arguments ?? [],
    };
    this.reveal();
  }

  /** Writes what was entered as the launch file of the text, and opens it. */
  async save(uri: vscode.Uri, quick: Quick): Promise<vscode.Uri | undefined> {
    const made = await this.server.call<Template>('visa.launchTemplate', { uri: uri.toString(), quick });
    if (!made.ok || made.text === undefined) {
      throw new Error(made.error ?? 'the server gave no launch file');
    }
    if (uri.scheme !== 'file') {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: 'visa-launch', content: made.text }));
      return undefined;
    }
    const target = launchFileOf(uri);
    const exists = await isThere(target);
    const replace = 'Replace';
    if (exists && (await vscode.window.showWarningMessage(plain(`${path.basename(target.path)} exists.`), { modal: true }, replace)) !== replace) {
      return undefined;
    }
    await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(made.text));
    await vscode.window.showTextDocument(target);
    return target;
  }

  private reveal(): void {
    if (this.panel !== undefined) {
      this.panel.reveal();
      void this.panel.webview.postMessage(this.shown);
      return;
    }
    const panel = panelOf<FromView>(this.context, 'form', 'vISA Quick Run', (message) => this.answer(message), vscode.ViewColumn.Active);
    panel.onDidDispose(() => (this.panel = undefined));
    this.panel = panel;
  }

  private async answer(message: FromView): Promise<void> {
    const uri = this.source;
    if (uri === undefined) {
      return;
    }
    try {
      if (message.kind === 'ready') {
        await this.panel?.webview.postMessage(this.shown);
      } else if (message.kind === 'run') {
        await this.run(uri, message.quick);
      } else if (message.kind === 'save') {
        await this.save(uri, message.quick);
      } else if (message.kind === 'kernel') {
        await this.show(uri, message.name);
      } else {
        const place = placeIn(message.text);
        await openAt(place === undefined ? uri : vscode.Uri.file(place.file), place?.line ?? 1, place?.column);
      }
    } catch (error) {
      void vscode.window.showErrorMessage(plain(`vISA: ${messageOf(error)}`));
    }
  }
}
