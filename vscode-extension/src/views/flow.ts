// The control-flow graph view: the server makes the graph (DOT), the page draws it; a click on a block goes to its text.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { HeatLines } from '../performance/heat.ts';
import type { Heat } from '../performance/profile.ts';
import { messageOf, type Server } from '../server/client.ts';
import type { Graph } from './graph.ts';
import { blockAt, labelOf, shortened, wrapped } from './blocks.ts';
import { coloursFor } from './colours.ts';
import { lineInFront } from './texts.ts';
import { openAt, panelOf } from './webview.ts';

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
  at: string | undefined; // the block of the text cursor
  dot: string;
  mermaid: string;
  error: string;
}

type FromView = { kind: 'ready' } | { kind: 'line'; line: number } | { kind: 'copy'; text: string };
type Blocks = NonNullable<FlowAnswer['blocks']>;

const PAUSE = 300; // milliseconds after a keystroke, or after a cursor that went elsewhere

export class FlowView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown | undefined;
  private blocks: Blocks = [];
  private source: vscode.Uri | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly heat: HeatLines;
  private readonly listeners: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, server: Server, heat: HeatLines) {
    this.context = context;
    this.server = server;
    this.heat = heat;
    this.listeners = [
      heat.onDidChange(() => this.later()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.isShown(document) && this.later()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        if (this.isShown(textEditor.document)) {
          this.follow(selections[0]!.active.line);
        }
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.forEach((listener) => listener.dispose());
    this.panel?.dispose();
  }

  get content(): Shown | undefined {
    return this.shown;
  }

  async show(uri: vscode.Uri, kernel?: string, line?: number): Promise<void> {
    this.source = uri;
    await this.draw(kernel, line ?? lineInFront(uri));
    this.reveal();
  }

  /** Asks for the graph of a kernel, else of the one of a line, else of the first. */
  private async draw(kernel: string | undefined, line: number | undefined): Promise<void> {
    const uri = this.source!;
    const shown: Shown = { title: path.basename(uri.path), graph: undefined, at: undefined, dot: '', mermaid: '', error: '' };
    this.blocks = [];
    try {
      let answer = await this.ask(uri, kernel === undefined ? { line } : { kernel });
      if (!answer.ok && kernel === undefined && line !== undefined) {
        answer = await this.ask(uri, {}); // the cursor is in no kernel: the first one
      }
      this.blocks = answer.blocks ?? [];
      shown.dot = answer.dot ?? '';
      shown.mermaid = answer.mermaid ?? '';
      shown.graph = answer.ok && this.blocks.length > 0 ? graphOf(answer, (first, last) => this.heat.between(uri, first, last)) : undefined;
      shown.error = shown.graph ? '' : (answer.error ?? 'there is no instruction in this kernel');
      shown.at = line === undefined ? undefined : blockAt(this.blocks, line);
    } catch (error) {
      shown.error = messageOf(error);
    }
    this.shown = shown;
  }

  private isShown(document: vscode.TextDocument): boolean {
    return this.panel !== undefined && document.uri.toString() === this.source?.toString();
  }

  /** Marks the block of a line; in another kernel that one's graph comes instead. */
  private follow(line: number): void {
    const at = blockAt(this.blocks, line);
    if (at === undefined) {
      this.later();
    } else if (this.shown !== undefined && at !== this.shown.at) {
      this.shown.at = at;
      void this.panel?.webview.postMessage({ cursor: at });
    }
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (this.source !== undefined && this.panel !== undefined) {
        await this.draw(undefined, lineInFront(this.source));
        await this.panel.webview.postMessage(this.shown);
      }
    }, PAUSE);
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
    const panel = panelOf<FromView>(this.context, 'flow', 'vISA Control Flow', (message) => this.answer(message));
    const colours = coloursFor(panel.webview);
    panel.onDidDispose(() => {
      colours.dispose();
      this.panel = undefined;
    });
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

function graphOf(answer: FlowAnswer, heatOf: (first: number, last: number) => Heat | undefined): Graph {
  const nodes = (answer.blocks ?? []).map((block) => {
    const heat = heatOf(block.firstLine, block.lastLine);
    const code = shortened(block.code).flatMap(wrapped);
    const lines = [...(heat === undefined ? [] : [`// ${heat.words}`]), ...(code.length > 0 ? code : ['//'])];
    return { id: String(block.id), lines, line: block.firstLine, faint: !block.reachable, heat: heat?.level };
  });
  const edges = (answer.edges ?? []).map((edge) => ({
    from: String(edge.from),
    to: String(edge.to),
    label: labelOf(edge.kind, edge.condition),
    kind: edge.kind,
  }));
  return { name: answer.name ?? '', nodes, edges };
}
