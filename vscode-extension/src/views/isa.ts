// Objects (`.isa`) opened as their disassembly: a read-only editor, and the same text as a document of the language.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { runProcess } from '../process.ts';
import { messageOf, type Server } from '../server/client.ts';
import { coloursFor } from './colours.ts';
import { follow, mustBeThere } from './following.ts';
import { optionsFor, page } from './webview.ts';

/** Documents of this scheme are the disassembly of the file whose path they have, with one more suffix. */
export const ISA_SCHEME = 'visa-disassembly';
const SUFFIX = '.visaasm';

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

  private readonly followed = new Map<string, vscode.Disposable>(); // the files of documents that are open
  private readonly closed: vscode.Disposable;

  constructor(context: vscode.ExtensionContext, server: Server) {
    this.context = context;
    this.server = server;
    this.closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      this.followed.get(uri.toString())?.dispose();
      this.followed.delete(uri.toString());
    });
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    panel.webview.options = optionsFor(this.context);
    const send = async (): Promise<void> => {
      await panel.webview.postMessage(await this.disassemble(document.uri));
    };
    const listeners = [follow(document.uri, () => void send()), coloursFor(panel.webview)];
    panel.onDidDispose(() => listeners.forEach((listener) => listener.dispose()));
    panel.webview.onDidReceiveMessage(async (message: { kind: 'ready' | 'text' | 'flow' }) => {
      if (message.kind === 'ready') {
        await send();
        return;
      }
      const text = await this.showText(document.uri);
      if (message.kind === 'flow') {
        await vscode.commands.executeCommand('visa.showFlowGraph', text.uri);
      }
    });
    panel.webview.html = page(this.context, panel.webview, 'isa');
  }

  dispose(): void {
    this.closed.dispose();
    this.followed.forEach((watcher) => watcher.dispose());
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const target = uri.with({ scheme: 'file', path: uri.path.slice(0, -SUFFIX.length) });
    if (!this.followed.has(uri.toString())) {
      this.followed.set(uri.toString(), follow(target, () => this.changed.fire(uri)));
    }
    const found = target.path.endsWith('.isa') ? await this.disassemble(target) : await this.throughObject(target);
    return found.error === '' ? found.text : `// ${found.error.replaceAll('\n', '\n// ')}\n`;
  }

  /** A text as its own object says it. */
  private async throughObject(uri: vscode.Uri): Promise<{ text: string; error: string }> {
    try {
      const argument = { uri: uri.toString() };
      const answer = await this.server.call<{ ok: boolean; text?: string; error?: string }>('visa.disassemble', argument);
      return { text: answer.text ?? '', error: answer.ok ? '' : (answer.error ?? 'no text') };
    } catch (error) {
      return { text: '', error: messageOf(error) };
    }
  }

  /** Shows an object's text, or that of a text's object, as a document of the language. */
  async showText(uri: vscode.Uri): Promise<vscode.TextDocument> {
    const virtual = virtualUri(uri);
    this.changed.fire(virtual);
    const document = await vscode.workspace.openTextDocument(virtual);
    await vscode.window.showTextDocument(document);
    return document;
  }

  /** The text of an object; it only reads, so it works in untrusted folders too. */
  async disassemble(uri: vscode.Uri): Promise<Disassembly> {
    const result = { name: path.basename(uri.path), summary: '', text: '', error: '' };
    try {
      await mustBeThere(uri, '*Assemble to .isa* on its text makes it.');
      const [program, input] = await Promise.all([this.server.program(), vscode.workspace.fs.readFile(uri)]);
      const platform = vscode.workspace.getConfiguration('visa', uri).get<string>('platform', '');
      const args = ['dis', '-', '--stdin-filename', result.name, ...(platform === '' ? [] : ['--platform', platform])];
      const [text, summary] = await Promise.all([
        runProcess(program, args, { input }),
        runProcess(program, [...args, '--summary'], { input }),
      ]);
      if (text.code !== 0) {
        const said = text.stderr.trim().replace(`visa-lsp: ${result.name}: `, '') || `exit status ${text.code}`;
        return { ...result, error: `${result.name} is no object that can be read: ${said}` };
      }
      return { ...result, text: text.stdout, summary: summary.stdout };
    } catch (error) {
      return { ...result, error: messageOf(error) };
    }
  }
}

export function virtualUri(object: vscode.Uri): vscode.Uri {
  return object.with({ scheme: ISA_SCHEME, path: object.path + SUFFIX });
}
