// The control-flow graph view: the server makes the graph (DOT), the page draws it; a click on a block goes to its text.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { messageOf, type Server } from '../server/client.ts';
import type { Graph } from './graph.ts';
import { openAt, optionsFor, page } from './webview.ts';

/** What `visa.showControlFlow` answers; lines count from 0. */
export interface FlowAnswer {
  ok: boolean;
  error?: string;
  dot?: string;
  mermaid?: string;
  name?: string;
  blocks?: { id: number; labels: string[]; firstLine: number; lastLine: number; code: string[]; reachable: boolean }[];
  edges?: { from: number; to: number; kind: string; condition: string }[];
}

interface Shown {
  title: string;
  graph: Graph | undefined;
  dot: string;
  mermaid: string;
  error: string;
}

type FromView = { kind: 'ready' } | { kind: 'line'; line: number } | { kind: 'copy'; text: string };

export class FlowView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown | undefined;
  private source: vscode.Uri | undefined;
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly saved: vscode.Disposable;

  constructor(context: vscode.ExtensionContext, server: Server) {
    this.context = context;
    this.server = server;
    this.saved = vscode.workspace.onDidSaveTextDocument((document) => {
      if (this.panel !== undefined && document.uri.toString() === this.source?.toString()) {
        void this.show(document.uri);
      }
    });
  }

  dispose(): void {
    this.saved.dispose();
    this.panel?.dispose();
  }

  get content(): Shown | undefined {
    return this.shown;
  }

  async show(uri: vscode.Uri, kernel?: string, line?: number): Promise<void> {
    this.source = uri;
    this.shown = { title: path.basename(uri.path), graph: undefined, dot: '', mermaid: '', error: '' };
    try {
      let answer = await this.ask(uri, { kernel, line });
      if (!answer.ok && line !== undefined) {
        answer = await this.ask(uri, {}); // the cursor is in no kernel: the first one
      }
      this.shown.dot = answer.dot ?? '';
      this.shown.mermaid = answer.mermaid ?? '';
      this.shown.error = answer.ok ? '' : (answer.error ?? 'the server gave no graph');
      this.shown.graph = answer.ok ? graphOf(answer) : undefined;
    } catch (error) {
      this.shown.error = messageOf(error);
    }
    this.reveal();
  }

  private ask(uri: vscode.Uri, which: { kernel?: string | undefined; line?: number | undefined }): Promise<FlowAnswer> {
    return this.server.call<FlowAnswer>('visa.showControlFlow', { uri: uri.toString(), ...which });
  }

  private reveal(): void {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      void this.panel.webview.postMessage(this.shown);
      return;
    }
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const options = { ...optionsFor(this.context), retainContextWhenHidden: true };
    const panel = vscode.window.createWebviewPanel('visa.flow', 'vISA Control Flow', where, options);
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, 'images', 'icon.png');
    panel.webview.onDidReceiveMessage((message: FromView) => this.answer(message));
    panel.onDidDispose(() => (this.panel = undefined));
    panel.webview.html = page(this.context, panel.webview, 'flow');
    this.panel = panel;
  }

  private async answer(message: FromView): Promise<void> {
    if (message.kind === 'ready') {
      await this.panel?.webview.postMessage(this.shown);
    } else if (message.kind === 'copy') {
      await vscode.env.clipboard.writeText(message.text);
    } else if (this.source !== undefined) {
      await openAt(this.source, message.line + 1);
    }
  }
}

const MOST_LINES = 12;
const MOST_CHARACTERS = 46;

function graphOf(answer: FlowAnswer): Graph {
  const nodes = (answer.blocks ?? []).map((block) => ({
    id: String(block.id),
    lines: shortened(block.code).map((code) => (code.length > MOST_CHARACTERS ? `${code.slice(0, MOST_CHARACTERS - 1)}…` : code)),
    line: block.firstLine,
    faint: !block.reachable,
  }));
  const edges = (answer.edges ?? []).map((edge) => ({
    from: String(edge.from),
    to: String(edge.to),
    label: edge.condition.replace(/^!\(!(.*)\)$/, '$1').replace(/^!\((\w+)\)$/, '!$1'),
    kind: edge.kind,
  }));
  return { name: answer.name ?? '', nodes, edges };
}

/** The head and the tail of a long block. */
function shortened(code: string[]): string[] {
  if (code.length <= MOST_LINES) {
    return code;
  }
  const head = MOST_LINES / 2;
  const tail = MOST_LINES - head - 1;
  return [...code.slice(0, head), `… ${code.length - head - tail} more`, ...code.slice(-tail)];
}
