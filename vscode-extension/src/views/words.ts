// The words that have a page, to pick one from: the one under the cursor is chosen already.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';

export interface Word {
  word: string;
  kind: string;
  line: string;
}

export async function wordsOf(server: Server): Promise<Word[]> {
  return (await server.call<{ words?: Word[] }>('visa.words', {})).words ?? [];
}

/** What may be meant at the cursor, the longest first: `cmp.lt` before `cmp`, `%group_id_x` before `group_id_x`. */
export function wordUnderCursor(): string[] {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return [];
  }
  const at = editor.selection.active;
  const found = [/[%.]?[\w$@?-]+(\.[\w$@?-]+)*/, /[%.]?[\w$@?]+/, /\w+/].flatMap((pattern) => {
    const range = editor.document.getWordRangeAtPosition(at, pattern);
    return range === undefined ? [] : [editor.document.getText(range)];
  });
  return [...found, ...found.map((word) => word.replace(/\..*$/, ''))];
}

interface Item extends vscode.QuickPickItem {
  word?: string;
}

/** The chosen word, or what was typed where no word of the list was meant. */
export function pickWord(words: Word[], wanted: string[]): Promise<string | undefined> {
  const items: Item[] = [];
  for (const { word, kind, line } of words) {
    if (items.findLast((item) => item.kind === vscode.QuickPickItemKind.Separator)?.label !== kind) {
      items.push({ label: kind, kind: vscode.QuickPickItemKind.Separator });
    }
    items.push({ label: word, description: line, word });
  }
  const pick = vscode.window.createQuickPick<Item>();
  pick.title = 'Explain';
  pick.placeholder = 'An instruction, the code of a finding, a predefined variable, an attribute, a type or a platform';
  pick.matchOnDescription = true;
  pick.items = items;
  const meant = wanted.flatMap((word) => items.filter((item) => item.word === word)).at(0);
  if (meant !== undefined) {
    pick.activeItems = [meant];
  }
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      resolve(pick.selectedItems[0]?.word ?? pick.value.trim());
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}
