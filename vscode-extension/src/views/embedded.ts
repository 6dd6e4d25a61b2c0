// "Open as vISA": a block of vISA in another language as a document of its own. Saving it changes the string in the host's
// document, which is not saved by that; the server makes the text and knows how a string has to be written. "Run this block": the
// same block as a kernel of its own, which cannot be written back.

import * as vscode from 'vscode';
import { messageOf, type Server } from '../server/client.ts';

export const BLOCK_SCHEME = 'visa-block';
const KERNEL = { as: 'kernel' };

interface Opened {
  ok: boolean;
  error?: string;
  block: number;
  text: string;
  uri: string;
  quick?: Record<string, unknown>; // of a kernel: its launch
}

interface Written {
  ok: boolean;
  error?: string;
  edit: { changes: Record<string, { range: { start: Place; end: Place }; newText: string }[]> };
}

interface Place {
  line: number;
  character: number;
}

/** What is shown of a block: the text that the next change of it begins with. */
interface Shown {
  before: string;
  changed: number;
}

export class Blocks implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly server: Server;
  private readonly shown = new Map<string, Shown>();
  private readonly events = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeFile = this.events.event;

  constructor(server: Server) {
    this.server = server;
    this.subscriptions = [
      vscode.workspace.registerFileSystemProvider(BLOCK_SCHEME, this, { isCaseSensitive: true }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => void this.follow(document)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.shown.delete(uri.toString())),
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }

  /** Opens a block by its number, else the one at the cursor, beside its host. */
  async open(host: vscode.Uri, block?: number): Promise<vscode.TextEditor> {
    const opened = await this.ask(host, this.place(host, block));
    const uri = vscode.Uri.parse(opened.uri);
    return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), vscode.ViewColumn.Beside);
  }

  /** Makes a block, by its number, else the one at the cursor, a kernel that can be run: its document, and its launch. */
  async kernel(host: vscode.Uri, block?: number): Promise<{ uri: vscode.Uri; quick: Record<string, unknown> }> {
    const made = await this.ask(host, { ...this.place(host, block), ...KERNEL });
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(made.uri));
    return { uri: document.uri, quick: made.quick ?? {} };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { host, ...asked } = partsOf(uri);
    await vscode.workspace.openTextDocument(host);
    const { text } = await this.ask(host, asked);
    if (this.shown.get(uri.toString())?.before !== text) {
      this.shown.set(uri.toString(), { before: text, changed: Date.now() });
    }
    return new TextEncoder().encode(text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { host, block, as } = partsOf(uri);
    if (as !== undefined) {
      throw vscode.FileSystemError.NoPermissions('this kernel is made from the block: save it as a file of its own');
    }
    const text = new TextDecoder().decode(content);
    await vscode.workspace.openTextDocument(host);
    const before = this.shown.get(uri.toString())?.before ?? text;
    const written = await this.server.call<Written>('visa.writeBlock', { uri: host.toString(), block, before, text });
    if (!written.ok) {
      throw vscode.FileSystemError.Unavailable(written.error ?? 'the block cannot be written');
    }
    const edit = new vscode.WorkspaceEdit();
    for (const [name, edits] of Object.entries(written.edit.changes)) {
      for (const { range, newText } of edits) {
        const { start, end } = range;
        edit.replace(vscode.Uri.parse(name), new vscode.Range(start.line, start.character, end.line, end.character), newText);
      }
    }
    this.shown.set(uri.toString(), { before: text, changed: Date.now() });
    if (!(await vscode.workspace.applyEdit(edit))) {
      throw vscode.FileSystemError.Unavailable('the document that the block stands in has changed meanwhile');
    }
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    if (!this.shown.has(uri.toString())) {
      await this.readFile(uri); // what is told before reading has to hold after it
    }
    const { before, changed } = this.shown.get(uri.toString())!;
    const readonly = partsOf(uri).as === undefined ? {} : { permissions: vscode.FilePermission.Readonly };
    return { type: vscode.FileType.File, ctime: 0, mtime: changed, size: new TextEncoder().encode(before).length, ...readonly };
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  /** The host has changed: a block of it that is shown, and not being changed itself, is shown as it is now. */
  private async follow(host: vscode.TextDocument): Promise<void> {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme !== BLOCK_SCHEME || document.isDirty || partsOf(document.uri).host.toString() !== host.uri.toString()) {
        continue;
      }
      const { block, as } = partsOf(document.uri);
      const now = await this.ask(host.uri, { block, ...(as && { as }) }).catch(() => undefined);
      if (now !== undefined && !document.isDirty) {
        this.shows(document.uri, now.text);
      }
    }
  }

  /** Has a document show another text where it shows an older one. */
  private shows(uri: vscode.Uri, text: string): void {
    const known = this.shown.get(uri.toString());
    if (known !== undefined && text !== known.before) {
      this.shown.set(uri.toString(), { before: text, changed: Date.now() });
      this.events.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    }
  }

  private place(host: vscode.Uri, block?: number): object {
    const cursor = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === host.toString())?.selection.active;
    return block === undefined ? { line: cursor?.line ?? 0 } : { block };
  }

  private async ask(host: vscode.Uri, place: object): Promise<Opened> {
    let opened: Opened;
    try {
      opened = await this.server.call<Opened>('visa.openBlock', { uri: host.toString(), ...place });
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(messageOf(error));
    }
    if (!opened.ok) {
      throw new Error(opened.error ?? 'there is no block here');
    }
    return opened;
  }
}

/** The host of a block, its number from 0, and whether it is a kernel: `visa-block:/NAME.NUMBER[.run].visaasm?URI OF THE HOST`. */
function partsOf(uri: vscode.Uri): { host: vscode.Uri; block: number; as?: string } {
  const [, number, run] = /\.(\d+)(\.run)?\.visaasm$/.exec(uri.path) ?? [];
  if (number === undefined || uri.query === '') {
    throw vscode.FileSystemError.FileNotFound(uri);
  }
  return { host: vscode.Uri.parse(uri.query), block: Number(number) - 1, ...(run !== undefined && KERNEL) };
}
