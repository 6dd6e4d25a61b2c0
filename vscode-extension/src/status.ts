// The status bar: platform in force, as the server tells it, and dialect of the text in front. A click chooses the platform.

import * as vscode from 'vscode';
import type { Server } from './server/client.ts';
import { plain } from './plain.ts';

const ANY = 'any';

/** What `visa.platformOf` answers: the platform, who names it, whether it is checked for. */
interface Told {
  platform: string;
  by: string;
  checked: boolean;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('visa.status', vscode.StatusBarAlignment.Right, 100);
  private readonly listeners: vscode.Disposable[];
  private readonly server: Server;
  private readonly platforms: string[];
  private told: Told | undefined; // of the document in front

  constructor(context: vscode.ExtensionContext, server: Server) {
    this.server = server;
    this.platforms = platformsOf(context.extension.packageJSON);
    this.item.name = 'vISA platform and dialect';
    const ask = (): void => void this.ask();
    this.listeners = [
      vscode.window.onDidChangeActiveTextEditor(ask),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.document === vscode.window.activeTextEditor?.document) {
          this.update();
        }
      }),
      vscode.workspace.onDidSaveTextDocument(ask), // a settings file, a launch file
      vscode.workspace.onDidChangeConfiguration(ask),
      server.onDidChange(ask),
    ];
    ask();
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
    this.item.dispose();
  }

  get text(): string {
    return this.item.text;
  }

  async selectPlatform(): Promise<void> {
    const target = vscode.window.activeTextEditor?.document.uri;
    const picked = await vscode.window.showQuickPick([ANY, ...this.platforms], {
      title: 'vISA platform',
      placeHolder: 'What the text is checked for; "any" reports nothing that only some platforms forbid',
    });
    if (picked !== undefined) {
      const folder = target && vscode.workspace.getWorkspaceFolder(target);
      const where = folder ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
      await vscode.workspace.getConfiguration('visa', target).update('platform', picked === ANY ? '' : picked, where);
    }
  }

  private async ask(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    this.told = undefined;
    this.update();
    if (document?.languageId === 'visa' && this.server.running) {
      const told = await this.server.call<Told>('visa.platformOf', { uri: document.uri.toString() }).catch(() => undefined);
      if (document === vscode.window.activeTextEditor?.document) {
        this.told = told;
        this.update();
      }
    }
  }

  private update(): void {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId !== 'visa') {
      this.item.hide();
      return;
    }
    const lack = this.server.lack;
    if (lack === undefined) {
      this.tell(document);
    } else {
      this.offer(lack);
    }
    this.item.show();
  }

  private tell(document: vscode.TextDocument): void {
    const { by, checked, platform: named } = this.told ?? { by: '', checked: false, platform: '' };
    const platform = named || ANY;
    const dialect = dialectOf(document);
    this.item.command = 'visa.selectPlatform';
    this.item.text = `$(${this.server.running ? 'circuit-board' : 'loading~spin'}) vISA ${dialect} · ${plain(platform)}`;
    const findings = checked ? '' : ': runs and machine code are for it. Findings are those of any platform';
    // Files of the folder may hold any text.
    this.item.tooltip = new vscode.MarkdownString(`Dialect **${dialect}**, told by \`.version\`.\n\nPlatform `)
      .appendText(named ? `${named}, told by ${by}${findings}` : ANY)
      .appendMarkdown('; click to choose.');
  }

  /** Without a server there is nothing to tell but how to get one. */
  private offer(lack: 'program' | 'other'): void {
    const trusted = vscode.workspace.isTrusted;
    const install = lack === 'program' && trusted;
    this.item.command = install ? 'visa.installServer' : 'visa.mendServer';
    this.item.text = install ? '$(cloud-download) vISA: install server' : '$(warning) vISA: no server';
    this.item.tooltip = install
      ? 'The language server is not installed; click to install the one that comes with this extension.'
      : 'The language server is not running; click to see why.';
  }
}

/** The dialect that `.version` tells, as the server has it: 4.2 and later, else 4.1. */
function dialectOf(document: vscode.TextDocument): string {
  for (let n = 0; n < Math.min(document.lineCount, 400); n++) {
    const found = /^\s*\.version\s+(\d+)\.(\d+)/.exec(document.lineAt(n).text);
    if (found !== null) {
      const [major, minor] = [Number(found[1]), Number(found[2])];
      return major > 4 || (major === 4 && minor >= 2) ? '4.2' : '4.1';
    }
  }
  return '4.1';
}

export function platformsOf(manifest: { contributes: { configuration: { properties: Record<string, { enum?: string[] }> } } }): string[] {
  return (manifest.contributes.configuration.properties['visa.platform']?.enum ?? []).filter((name) => name !== '');
}
