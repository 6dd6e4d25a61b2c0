// The source that texts were compiled from: a hint behind each line that became instructions, where wanted, which leads to them.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';

/** What `visa.instructionsOf` answers; lines count from 0. */
interface Instructions {
  ok: boolean;
  error?: string;
  lines?: SourceLine[];
}

interface SourceLine {
  line: number;
  instructions: number;
  locations: { uri: string; range: { start: vscode.Position; end: vscode.Position } }[];
}

const SOURCES: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.{cl,clh,clcpp,ocl,c,cc,cpp,cxx,h,hpp,sycl}' };
const SHOW = 'visa.showInstructions';

export class SourceCounts implements vscode.InlayHintsProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeInlayHints = this.changed.event;
  private readonly server: Server;
  private readonly parts: vscode.Disposable[];
  // What the server said of a source holds until a text changes: typing in the source asks nothing.
  private known = new Map<string, Promise<SourceLine[]>>();

  constructor(server: Server) {
    this.server = server;
    const texts = vscode.workspace.createFileSystemWatcher('**/*.{visaasm,isaasm}');
    const forget = (): void => this.forget();
    this.parts = [
      this.changed,
      texts,
      texts.onDidChange(forget),
      texts.onDidCreate(forget),
      texts.onDidDelete(forget),
      server.onDidChange(forget),
      vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('visa.sourceLens') && forget()),
      vscode.languages.registerInlayHintsProvider(SOURCES, this),
      vscode.commands.registerCommand(SHOW, (uri?: vscode.Uri, line?: number) => this.show(uri, line)),
    ];
  }

  dispose(): void {
    this.parts.forEach((part) => part.dispose());
  }

  async provideInlayHints(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.InlayHint[]> {
    if (!this.server.running || !vscode.workspace.getConfiguration('visa', document).get('sourceLens', false)) {
      return [];
    }
    const lines = await this.linesOf(document.uri);
    return lines
      .filter(({ line }) => line < document.lineCount && range.start.line <= line && line <= range.end.line)
      .map(({ line, instructions }) => {
        const label = new vscode.InlayHintLabelPart(`${instructions} vISA instruction${instructions === 1 ? '' : 's'}`);
        label.command = { title: 'Show Instructions', command: SHOW, arguments: [document.uri, line] };
        const hint = new vscode.InlayHint(document.lineAt(line).range.end, [label]);
        hint.paddingLeft = true;
        return hint;
      });
  }

  /** Shows the instructions of a line, that of the cursor by default; gives how many places there are. */
  private async show(given?: vscode.Uri, at?: number): Promise<number> {
    const editor = vscode.window.activeTextEditor;
    const uri = given ?? editor?.document.uri;
    const line = typeof at === 'number' ? at : editor?.selection.active.line;
    if (uri === undefined || line === undefined) {
      void vscode.window.showWarningMessage('vISA: open a source file first.');
      return 0;
    }
    const found = (await this.linesOf(uri)).find((one) => one.line === line);
    const places = (found?.locations ?? []).map(({ uri: text, range: { start, end } }) => {
      return new vscode.Location(vscode.Uri.parse(text), new vscode.Range(start.line, start.character, end.line, end.character));
    });
    const none = 'No vISA text of this folder has an instruction of this line. Texts compiled with -g name their lines.';
    await vscode.commands.executeCommand('editor.action.goToLocations', uri, new vscode.Position(line, 0), places, 'peek', none);
    return places.length;
  }

  private linesOf(uri: vscode.Uri): Promise<SourceLine[]> {
    const key = uri.toString();
    const known = this.known.get(key) ?? this.ask(key);
    this.known.set(key, known);
    return known;
  }

  private async ask(uri: string): Promise<SourceLine[]> {
    try {
      return (await this.server.call<Instructions>('visa.instructionsOf', { uri })).lines ?? [];
    } catch {
      this.known.delete(uri); // the server was not there, or went
      return [];
    }
  }

  private forget(): void {
    this.known = new Map();
    this.changed.fire();
  }
}
