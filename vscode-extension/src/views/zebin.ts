// Zebins opened in a read-only editor: sections, kernels, and links to ze_info and vISA as documents.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { messageOf, type Server } from '../server/client.ts';
import { mustBeThere, follow } from './following.ts';
import type { Pages } from './pages.ts';
import { optionsFor, page } from './webview.ts';

const KIND = 'zebin';

/** What a page of a zebin holds: a module of vISA, else its ze_info. */
interface Part {
  uri: string;
  module?: string | undefined;
}

/** What `visa.zebin` answers. */
export interface ZebinAnswer {
  ok: boolean;
  error?: string;
  bytes?: number;
  sections?: { name: string; type: string; bytes: number; offset: number }[];
  kernels?: { name: string; simd?: number; registers?: number; arguments?: number; bytes?: number | null }[];
  zeInfo?: string;
  zeInfoProblem?: string;
  modules?: { name: string; text: string; error: string }[];
}

/** What the page is given: the texts stay here. */
export interface ZebinContent extends Omit<ZebinAnswer, 'zeInfo' | 'modules'> {
  name: string;
  hasZeInfo: boolean;
  modules: { name: string; error: string }[];
}

type FromView = { kind: 'ready' } | { kind: 'zeinfo'; kernel?: string } | { kind: 'module'; name: string };

export class ZebinEditor implements vscode.CustomReadonlyEditorProvider {
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly pages: Pages;

  constructor(context: vscode.ExtensionContext, server: Server, pages: Pages) {
    this.context = context;
    this.server = server;
    this.pages = pages;
    pages.register(KIND, (what) => this.part(what));
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    panel.webview.options = optionsFor(this.context);
    const send = async (): Promise<void> => {
      await panel.webview.postMessage(await this.content(document.uri));
    };
    const followed = follow(document.uri, () => void send());
    panel.onDidDispose(() => followed.dispose());
    panel.webview.onDidReceiveMessage((message: FromView) =>
      message.kind === 'ready' ? send() : this.open(document.uri, message),
    );
    panel.webview.html = page(this.context, panel.webview, 'zebin');
  }

  /** What the page of a zebin shows; tests look at it. */
  async content(uri: vscode.Uri): Promise<ZebinContent> {
    const { zeInfo = '', modules = [], ...told } = await this.ask(uri);
    return {
      ...told,
      name: path.posix.basename(uri.path),
      hasZeInfo: zeInfo !== '',
      modules: modules.map(({ name, error }) => ({ name, error })),
    };
  }

  /** Opens a part of a zebin as a document: ze_info, at a kernel if one is named, or a vISA module as text. */
  async open(uri: vscode.Uri, part: Exclude<FromView, { kind: 'ready' }>): Promise<void> {
    const stem = path.posix.basename(uri.path).replace(/\.[^.]*$/, '');
    const module = part.kind === 'module' ? part.name : undefined;
    const name = module === undefined ? `${stem}.zeinfo.yaml` : `${module}.visaasm`;
    const what = JSON.stringify({ uri: uri.toString(), module } satisfies Part);
    const document = await this.pages.open(KIND, `${path.posix.basename(uri.path)}/${name}`, what);
    const line = part.kind === 'module' || part.kernel === undefined ? 0 : lineOfKernel(document, part.kernel);
    const at = new vscode.Range(line, 0, line, 0);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, selection: at });
  }

  private async part(what: string): Promise<string> {
    const { uri, module } = JSON.parse(what) as Part;
    const told = await this.ask(vscode.Uri.parse(uri));
    const found = told.modules?.find(({ name }) => name === module);
    const gone = module === undefined || found !== undefined ? '' : `there is no ${module} any more`;
    const problem = told.error || found?.error || gone;
    if (problem) {
      throw new Error(problem);
    }
    return found?.text ?? told.zeInfo ?? '';
  }

  private async ask(uri: vscode.Uri): Promise<ZebinAnswer> {
    try {
      await mustBeThere(uri, 'The compiler, ocloc, makes it.');
      const told = await this.server.call<ZebinAnswer>('visa.zebin', { uri: uri.toString() });
      const error = `${path.posix.basename(uri.path)} is no zebin that can be read: ${told.error}`;
      return told.ok ? told : { ok: false, error };
    } catch (error) {
      return { ok: false, error: messageOf(error) };
    }
  }
}

/** The line of ze_info where a kernel is named, from 0. */
function lineOfKernel(document: vscode.TextDocument, kernel: string): number {
  const named = (line: string): string | undefined => /^\s*-?\s*name:\s*["']?(.*?)["']?\s*$/.exec(line)?.[1];
  return Math.max(0, document.getText().split(/\r?\n/).findIndex((line) => named(line) === kernel));
}
