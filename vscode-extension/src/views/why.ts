// The view "Causes": the instructions behind a value of a run, as a tree whose entries open their line.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { isTrustedFor } from '../trusted.ts';
import type { Server } from '../server/client.ts';
import { openAt } from './webview.ts';
import type { Report } from '../run/report.ts';
import { below, detailOf, questionsOf, rootsOf, titleOf, tooltipOf, type Entry, type NamedBuffer, type Offer, type WhyAnswer, type WhyQuestion } from './whytree.ts';

const ICONS: Record<string, string> = { input: 'symbol-parameter', memory: 'database', undefined: 'question', earlier: 'history', missing: 'circle-slash', note: 'info' };

export class WhyView implements vscode.TreeDataProvider<Entry>, vscode.Disposable {
  private readonly server: Server;
  private readonly lastRun: (source: vscode.Uri) => Report | undefined;
  private readonly view: vscode.TreeView<Entry>;
  private readonly changed = new vscode.EventEmitter<void>();
  private answer: WhyAnswer | undefined;
  private source: vscode.Uri | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(server: Server, lastRun: (source: vscode.Uri) => Report | undefined) {
    this.server = server;
    this.lastRun = lastRun;
    this.view = vscode.window.createTreeView('visa.causes', { treeDataProvider: this });
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  /** What the view shows; tests look at it. */
  get content(): WhyAnswer | undefined {
    return this.answer;
  }

  /** Ask for the value, then show what made it. What differs or is a fault in the last run is offered, and elements of each buffer. */
  async ask(uri: vscode.Uri): Promise<WhyAnswer | undefined> {
    const report = this.lastRun(uri);
    const buffers = report?.buffers ?? (await this.buffersOf(uri));
    const question = await pick(questionsOf(report, buffers));
    const { launch, launchText } = report ?? {};
    return question && this.show(uri, { ...question, ...(launchText === undefined ? { launch } : { launchText }) });
  }

  /** The buffers of a kernel that has not been run. */
  private async buffersOf(uri: vscode.Uri): Promise<NamedBuffer[]> {
    const { arguments: told = [] } = await this.server.call<{ arguments?: (NamedBuffer & { kind: string })[] }>('visa.launchTemplate', { uri: uri.toString() });
    return told.filter(({ kind }) => kind === 'buffer' || kind === 'image');
  }

  /** Show what made a value. */
  async show(uri: vscode.Uri, question: WhyQuestion): Promise<WhyAnswer | undefined> {
    if (!isTrustedFor('run')) {
      return undefined;
    }
    const options = { location: vscode.ProgressLocation.Notification, title: `vISA: explaining a value of ${path.basename(uri.path)}`, cancellable: true };
    const answer = await vscode.window.withProgress(options, (_, token) => this.server.call<WhyAnswer>('visa.why', { uri: uri.toString(), ...question }, token));
    if (!answer.ok) {
      void vscode.window.showErrorMessage(plain(`vISA: not explained: ${answer.error}`));
      return answer;
    }
    this.answer = answer;
    this.source = uri;
    await vscode.commands.executeCommand('setContext', 'visa.hasCauses', true);
    this.view.message = titleOf(answer);
    this.changed.fire();
    await vscode.commands.executeCommand('visa.causes.focus');
    return answer;
  }

  getChildren(entry?: Entry): Entry[] {
    if (this.answer === undefined) {
      return [];
    }
    return entry === undefined ? rootsOf(this.answer) : below(this.answer, entry);
  }

  getTreeItem(entry: Entry): vscode.TreeItem {
    const { node } = entry;
    const hasMore = this.answer !== undefined && below(this.answer, entry).length > 0;
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.text, !hasMore ? None : entry.above.length === 0 ? Expanded : Collapsed);
    item.description = detailOf(entry);
    item.tooltip = tooltipOf(node);
    const icon = node.first_difference === true ? 'error' : entry.races ? 'warning' : (ICONS[node.kind] ?? 'symbol-event');
    item.iconPath = new vscode.ThemeIcon(icon);
    if (node.line !== null && this.source !== undefined) {
      item.command = { title: 'Go to Line', command: 'visa.openCause', arguments: [entry] };
    }
    return item;
  }

  /** Open the line of an entry; where the debugger has stopped, its lane is the one that the lanes view marks. */
  async open({ node }: Entry): Promise<void> {
    if (node.line === null || this.source === undefined) {
      return;
    }
    const file = node.path === null || !path.isAbsolute(node.path) ? undefined : vscode.Uri.file(node.path);
    await openAt(file ?? this.source, node.line);
    if (node.lane !== null) {
      void vscode.window.setStatusBarMessage(`vISA: lane ${node.lane}: ${detailOf({ node, above: [], races: false })}`, 10_000);
    }
  }
}

/** Lets the user choose; an element that is typed is offered first. */
function pick(offers: Offer[]): Promise<WhyQuestion | undefined> {
  const box = vscode.window.createQuickPick<Offer>();
  Object.assign(box, { title: 'Explain a value', placeholder: 'Choose, or type an element such as y[37]', items: offers });
  box.onDidChangeValue((typed) => {
    const value = typed.trim();
    const isNew = /\S\[[\d, \]\[]+\]$/.test(value) && !offers.some(({ label }) => label === value);
    box.items = isNew ? [{ label: value, description: 'this element', question: { value } }, ...offers] : offers;
  });
  return new Promise((resolve) => {
    box.onDidAccept(() => {
      resolve(box.selectedItems[0]?.question);
      box.hide();
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}
