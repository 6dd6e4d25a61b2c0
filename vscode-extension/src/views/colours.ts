// The theme's colours for code on our pages, which know only the colours of the workbench: read from the theme's file and
// sent along. A theme that cannot be read leaves the pages with the colours of views.css.

import * as vscode from 'vscode';
import { coloursOf, parseTheme, rulesOf, type ThemeFile } from './theme.ts';

const DEEPEST = 8; // files that include each other

/** Sends the colours when the page is ready, and when the theme changes. */
export function coloursFor(webview: vscode.Webview): vscode.Disposable {
  const send = async (): Promise<void> => {
    await webview.postMessage({ colours: await themeColours() });
  };
  return vscode.Disposable.from(
    webview.onDidReceiveMessage((message: { kind: string }) => (message.kind === 'ready' ? send() : undefined)),
    vscode.window.onDidChangeActiveColorTheme(send),
    // The theme may be in use before the setting names it.
    vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('workbench') ? send() : undefined)),
  );
}

/** The colour of each kind of word; empty where the theme cannot be read. */
export async function themeColours(): Promise<Record<string, string>> {
  try {
    const found = themeFile();
    return found === undefined ? {} : coloursOf(rulesOf(await filesOf(found, DEEPEST)));
  } catch {
    return {};
  }
}

interface Theme {
  id?: string;
  label: string;
  uiTheme: string;
  path: string;
}

const KINDS: Record<string, vscode.ColorThemeKind> = {
  vs: vscode.ColorThemeKind.Light,
  'vs-dark': vscode.ColorThemeKind.Dark,
  'hc-black': vscode.ColorThemeKind.HighContrast,
  'hc-light': vscode.ColorThemeKind.HighContrastLight,
};

/** The file of the theme that is in use, found by the name that the settings have. */
function themeFile(): vscode.Uri | undefined {
  const name = vscode.workspace.getConfiguration().get<string>(settingInUse(), '');
  for (const extension of vscode.extensions.all) {
    const { themes = [] } = ((extension.packageJSON as { contributes?: { themes?: Theme[] } }).contributes ?? {});
    const found = themes.find((theme) => (theme.id ?? theme.label) === name);
    if (found !== undefined) {
      // While themes are tried out, the setting names another one: its colours may not be readable here.
      if (KINDS[found.uiTheme] !== vscode.window.activeColorTheme.kind) {
        return undefined;
      }
      return vscode.Uri.joinPath(extension.extensionUri, found.path);
    }
  }
  return undefined;
}

function settingInUse(): string {
  const { kind } = vscode.window.activeColorTheme;
  const { Dark, HighContrast, HighContrastLight } = vscode.ColorThemeKind;
  const settings = vscode.workspace.getConfiguration('window');
  if (kind === HighContrast || kind === HighContrastLight) {
    const light = kind === HighContrastLight ? 'Light' : '';
    return settings.get('autoDetectHighContrast') ? `workbench.preferredHighContrast${light}ColorTheme` : 'workbench.colorTheme';
  }
  return settings.get('autoDetectColorScheme') ? `workbench.preferred${kind === Dark ? 'Dark' : 'Light'}ColorTheme` : 'workbench.colorTheme';
}

/** A theme's file behind those that it includes. */
async function filesOf(uri: vscode.Uri, depth: number): Promise<ThemeFile[]> {
  const file = parseTheme(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
  const included = file.include === undefined || depth === 0 ? [] : await filesOf(vscode.Uri.joinPath(uri, '..', file.include), depth - 1);
  return [...included, file];
}
