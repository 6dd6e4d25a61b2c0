// Objects (`.isa`) opened as their disassembly: a read-only editor, and the same text as a document of the language.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { runProcess } from '../process.ts';
import { messageOf, type Server } from '../server/client.ts';
import { optionsFor, page } from './webview.ts';

export const ISA_SCHEME = 'visa-isa';

export interface Disassembly {
  name: string;
  summary: string;
  text: string;
  error: string;
}

export class IsaEditor implements vscode.CustomReadonlyEditorProvider, vscode.TextDocumentContentProvider {
  private readonly context: vscode.ExtensionContext;
  private readonly server: Server;
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(context: vscode.ExtensionContext, server: Server) {
    this.context = context;
    this.server = server;
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    panel.webview.options = optionsFor(this.context);
    const send = async (): Promise<void> => {
      await panel.webview.postMessage(await this.disassemble(document.uri));
    };
    const folder = new vscode.RelativePattern(vscode.Uri.joinPath(document.uri, '..'), path.basename(document.uri.path));
    const watcher = vscode.workspace.createFileSystemWatcher(folder);
    watcher.onDidChange((uri) => {
      this.changed.fire(virtualUri(uri));
      void send();
    });
    panel.onDidDispose(() => watcher.dispose());
    panel.webview.onDidReceiveMessage(async (message: { kind: 'ready' | 'text' | 'flow' }) => {
      if (message.kind === 'ready') {
        await send();
        return;
      }
      const text = await vscode.workspace.openTextDocument(virtualUri(document.uri));
      await vscode.window.showTextDocument(text);
      if (message.kind === 'flow') {
        await vscode.commands.executeCommand('visa.showFlowGraph', text.uri);
      }
    });
    panel.webview.html = page(this.context, panel.webview, 'isa');
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const found = await this.disassemble(vscode.Uri.parse(uri.query, true));
    return found.error === '' ? found.text : `// ${found.error.replaceAll('\n', '\n// ')}\n`;
  }

  /** The text of an object; it only reads, so it works in untrusted folders too. */
  async disassemble(uri: vscode.Uri): Promise<Disassembly> {
    const result = { name: path.basename(uri.path), summary: '', text: '', error: '' };
    try {
      const [program, input] = await Promise.all([this.server.program(), vscode.workspace.fs.readFile(uri)]);
      const platform = vscode.workspace.getConfiguration('visa', uri).get<string>('platform', '');
      const args = ['dis', '-', '--stdin-filename', result.name, ...(platform === '' ? [] : ['--platform', platform])];
      const [text, summary] = await Promise.all([
        runProcess(program, args, { input }),
        runProcess(program, [...args, '--summary'], { input }),
      ]);
      if (text.code !== 0) {
        return { ...result, error: text.stderr.trim() || `exit status ${text.code}` };
      }
      return { ...result, text: text.stdout, summary: summary.stdout };
    } catch (error) {
      return { ...result, error: messageOf(error) };
    }
  }
}

export function virtualUri(object: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: ISA_SCHEME, path: `${object.path}.visaasm`, query: object.toString(true) });
}
