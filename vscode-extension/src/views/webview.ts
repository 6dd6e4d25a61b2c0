// The page around a webview's script: one script and one style sheet of ours, and nothing else may load.

import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Place } from '../run/report.ts';
import { isThere } from './origins.ts';

export type View = 'results' | 'flow' | 'isa' | 'form' | 'zebin' | 'lanes' | 'machine' | 'pressure' | 'proof';

export function optionsFor(context: vscode.ExtensionContext): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(context.extensionUri, 'dist'), media(context)] };
}

/** A panel with one of our pages; its type is the view's name behind `visa.`, by which menus know it. */
export function panelOf<Message>(
  context: vscode.ExtensionContext,
  view: View,
  title: string,
  answer: (message: Message) => unknown,
  where: Parameters<typeof vscode.window.createWebviewPanel>[2] = {
    viewColumn: vscode.ViewColumn.Beside,
    preserveFocus: true,
  },
): vscode.WebviewPanel {
  const options = { ...optionsFor(context), retainContextWhenHidden: true };
  const panel = vscode.window.createWebviewPanel(`visa.${view}`, title, where, options);
  panel.iconPath = vscode.Uri.joinPath(context.extensionUri, 'images', 'icon.png');
  panel.webview.onDidReceiveMessage(answer);
  panel.webview.html = page(context, panel.webview, view);
  return panel;
}

export function page(context: vscode.ExtensionContext, webview: vscode.Webview, view: View): string {
  const nonce = randomBytes(16).toString('base64url');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview', `${view}.js`));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(media(context), 'views.css'));
  const policy = `default-src 'none'; img-src ${webview.cspSource}; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
</head>
<body class="${view}"><main></main><script nonce="${nonce}" src="${script}"></script></body>
</html>`;
}

function media(context: vscode.ExtensionContext): vscode.Uri {
  return vscode.Uri.joinPath(context.extensionUri, 'media');
}

/** Opens a file at a line (from 1) beside the view, or where it is open already. */
export async function openAt(uri: vscode.Uri, line: number, column = 1): Promise<void> {
  const open = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === uri.toString());
  const start = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  await vscode.window.showTextDocument(uri, {
    selection: new vscode.Range(start, start),
    viewColumn: open?.viewColumn ?? vscode.ViewColumn.One,
  });
}

/** Opens a place that a run of a text names, by a path that may count from the text's folder. */
export async function openPlace(text: vscode.Uri | undefined, place: Place): Promise<void> {
  const beside = text?.scheme === 'file' ? path.dirname(text.fsPath) : '';
  const file = vscode.Uri.file(path.resolve(beside, place.file));
  await openAt(text === undefined || (await isThere(file)) ? file : text, place.line, place.column);
}
