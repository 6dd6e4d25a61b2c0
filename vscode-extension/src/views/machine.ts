// Machine code beside a text: the editor is the column of vISA, the view has those of Gen and of the source. The server calls the
// finalizer, at first and after edits; a newer edit cancels what is under way, and the last good result stays until a better one.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { HeatLines } from '../performance/heat.ts';
import { heatOfSchedule, type ScheduledKernel } from '../performance/profile.ts';
import { plain } from '../plain.ts';
import { messageOf, type Server } from '../server/client.ts';
import { coloursFor } from './colours.ts';
import { LineMap } from './linemap.ts';
import { advice, type Columns, type Finding, type ToMachinePage, type FromMachinePage } from './machineparts.ts';
import { originOf } from './origins.ts';
import { markLines, partnerMark } from './partners.ts';
import { lineInFront } from './texts.ts';
import { openAt, panelOf } from './webview.ts';

/** What `visa.gen` answers, as far as it is shown; lines count from 1. */
interface GenAnswer {
  ok: boolean;
  error?: string;
  untrusted?: boolean;
  missing?: boolean; // there is no finalizer
  platform?: string;
  kernels?: ScheduledKernel[];
  findings?: Finding[];
  columns?: Columns;
  html?: string;
}

interface Made {
  columns: Columns;
  platform: string;
  lines: LineMap;
}

const PAUSE = 300; // milliseconds after a keystroke

export class MachineView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private text: vscode.Uri | undefined;
  private made: Made | undefined;
  private state: Extract<ToMachinePage, { kind: 'state' }> = { kind: 'state', working: false, stale: false, problem: '', advice: '', settings: false, findings: [] };
  private maps: LineMap[] = []; // of what is shown, and of what is under way
  private work: vscode.CancellationTokenSource | undefined;
  private timer: NodeJS.Timeout | undefined;
  private marked: vscode.TextEditorDecorationType | undefined;
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly heat: HeatLines;
  private readonly listeners: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, server: Server, heat: HeatLines) {
    this.context = context;
    this.server = server;
    this.heat = heat;
    this.listeners = [
      vscode.workspace.onDidChangeTextDocument((change) => this.isShown(change.document) && this.edited(change)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        if (this.isShown(textEditor.document)) {
          this.unmark();
          this.follow(selections[0]!.active.line);
        }
      }),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa') && this.later()),
      vscode.window.onDidChangeActiveColorTheme(() => this.unmark()),
      server.onDidChange(() => server.running && this.later()),
    ];
  }

  dispose(): void {
    this.forget();
    this.listeners.forEach((listener) => listener.dispose());
    this.panel?.dispose();
  }

  /** What the view shows and says: for tests. */
  get content(): { columns: Columns | undefined; platform: string | undefined } & Omit<typeof this.state, 'kind'> {
    const { kind: _, ...state } = this.state;
    return { columns: this.made?.columns, platform: this.made?.platform, ...state };
  }

  /** Shows the machine code of a text beside it. */
  async show(text: vscode.Uri): Promise<void> {
    if (text.toString() !== this.text?.toString()) {
      this.forget();
      this.made = undefined;
    }
    this.text = text;
    this.reveal();
    await this.make();
  }

  private isShown(document: vscode.TextDocument): boolean {
    return this.panel !== undefined && document.uri.toString() === this.text?.toString();
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.work?.cancel();
    this.work = undefined;
    this.maps = [];
    this.unmark();
  }

  private edited({ contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length > 0) {
      contentChanges.forEach((change) => this.maps.forEach((map) => map.edited(change)));
      this.later();
    }
  }

  private later(): void {
    clearTimeout(this.timer);
    if (this.panel !== undefined && this.text !== undefined) {
      this.timer = setTimeout(() => void this.make(), PAUSE);
    }
  }

  /** Asks for the machine code of the text as it is now; an older question is withdrawn. */
  private async make(): Promise<void> {
    clearTimeout(this.timer);
    this.work?.cancel();
    const work = new vscode.CancellationTokenSource();
    this.work = work;
    this.tell({ working: true });
    try {
      // The server has to have the text before it is asked about it.
      const { lineCount } = await vscode.workspace.openTextDocument(this.text!);
      const lines = new LineMap(lineCount);
      this.maps = [...(this.made === undefined ? [] : [this.made.lines]), lines];
      const answer = await this.ask({ columns: 'yes', schedule: 'yes' }, work.token);
      if (this.work === work) {
        this.take(answer, lines);
      }
    } catch (error) {
      if (this.work === work) {
        this.tell({ working: false, stale: true, problem: messageOf(error), advice: '', settings: false, findings: [] });
      }
    } finally {
      work.dispose();
    }
  }

  private take(answer: GenAnswer, lines: LineMap): void {
    const findings = answer.findings ?? [];
    if (answer.ok && answer.columns !== undefined && (answer.kernels ?? []).length > 0) {
      this.made = { columns: answer.columns, platform: answer.platform ?? '', lines };
      this.heat.showSchedule(this.text!, heatOfSchedule(answer.kernels ?? []));
      this.maps = [lines];
      this.state = { kind: 'state', working: false, stale: false, problem: '', advice: '', settings: false, findings };
      this.send();
      return;
    }
    const fault = findings.find(({ severity }) => severity === 'error');
    const problem = answer.error ?? (fault === undefined ? 'there is no machine code' : `line ${fault.line}: ${fault.message}`);
    this.tell({ working: false, stale: true, problem, ...advice(answer.missing ?? false, answer.untrusted ?? false, fault?.name), findings });
  }

  private ask(more: Record<string, string>, token?: vscode.CancellationToken): Promise<GenAnswer> {
    const settings = vscode.workspace.getConfiguration('visa', this.text);
    const origin = originOf(this.text!);
    const options = {
      uri: this.text!.toString(),
      tool: settings.get('finalizer', '').trim(),
      options: settings.get('finalizerOptions', ''),
      timeout: String(settings.get('finalizerTimeout', 30)),
      ...(origin && { source: origin.toString() }),
      ...more,
    };
    return this.server.call<GenAnswer>('visa.gen', options, token);
  }

  private tell(state: Partial<typeof this.state>): void {
    this.state = { ...this.state, ...state };
    void this.panel?.webview.postMessage(this.state);
  }

  /** Sends everything. */
  private send(): void {
    const name = path.posix.basename(this.text?.path ?? '');
    const shown: ToMachinePage = { kind: 'result', name, platform: this.made?.platform ?? '', columns: this.made?.columns };
    void this.panel?.webview.postMessage(shown);
    void this.panel?.webview.postMessage(this.state);
    const line = this.text === undefined ? undefined : lineInFront(this.text);
    if (line !== undefined) {
      this.follow(line);
    }
  }

  /** Marks the partners of the line of the cursor. */
  private follow(line: number): void {
    const then = this.made?.lines.then(line);
    void this.panel?.webview.postMessage({ kind: 'cursor', v: then === undefined ? undefined : then + 1 } satisfies ToMachinePage);
  }

  /** Marks lines of the text, as they were counted when its machine code was made, and brings the first into view. */
  private mark(lines: number[]): void {
    this.marked ??= partnerMark();
    const places = lines.flatMap((line) => this.made?.lines.now(line - 1) ?? []);
    markLines(this.marked, vscode.window.visibleTextEditors.filter(({ document }) => this.isShown(document)), places);
  }

  private unmark(): void {
    this.marked?.dispose();
    this.marked = undefined;
  }

  private reveal(): void {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      this.send();
      return;
    }
    const panel = panelOf<FromMachinePage>(this.context, 'machine', 'Machine Code', (message) => this.answer(message));
    const colours = coloursFor(panel.webview);
    panel.onDidDispose(() => {
      colours.dispose();
      this.forget();
      this.panel = undefined;
    });
    this.panel = panel;
  }

  private async answer(message: FromMachinePage): Promise<void> {
    switch (message.kind) {
      case 'ready':
        this.send();
        break;
      case 'chosen':
        this.mark(message.lines);
        break;
      case 'open':
        await this.open(message);
        break;
      case 'again':
        await this.make();
        break;
      case 'settings':
        await vscode.commands.executeCommand('workbench.action.openSettings', 'visa.finalizer');
        break;
      case 'save':
        await this.save();
    }
  }

  /** Leads to a line of the text, or of the source. */
  private async open({ v, s }: { v?: number; s?: number }): Promise<void> {
    const source = this.made?.columns.source?.path;
    if (v !== undefined) {
      const line = this.made?.lines.now(v - 1);
      if (line !== undefined && this.text !== undefined) {
        await openAt(this.text, line + 1);
      }
    } else if (s !== undefined && source !== undefined) {
      await openAt(vscode.Uri.file(source), s);
    }
  }

  /** Writes the page that `gen --html` writes, for others to see. */
  private async save(): Promise<void> {
    const text = this.text!;
    try {
      const answer = await this.ask({ html: 'yes' });
      if (!answer.ok || answer.html === undefined) {
        throw new Error(answer.error ?? 'there is no page');
      }
      const beside = originOf(text) ?? (text.scheme === 'file' ? text : undefined);
      const defaultUri = beside?.with({ path: `${beside.path}.html` });
      const target = await vscode.window.showSaveDialog({ ...(defaultUri && { defaultUri }), filters: { HTML: ['html'] }, title: 'Save the page with source, vISA and Gen' });
      if (target !== undefined) {
        await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(answer.html));
        void vscode.window.showInformationMessage(plain(`vISA: wrote ${path.posix.basename(target.path)}, which needs no other file.`));
      }
    } catch (error) {
      void vscode.window.showErrorMessage(plain(`vISA: no page: ${messageOf(error)}`));
    }
  }
}
