// Compare With...: two programs in the editor's own comparison, the second one in the names and the order of the first.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
import { plain } from '../plain.ts';
import { summary, type Comparison } from './compared.ts';
import type { Pages } from './pages.ts';

const KIND = 'compare';

interface Shown {
  uri: string;
  other: string;
  side: 'a' | 'b';
}

/** Makes the pages of this module. */
export function registerComparison(server: Server, pages: Pages): void {
  pages.register(KIND, async (what) => {
    const { side, ...pair } = JSON.parse(what) as Shown;
    const answer = await server.call<Comparison>('visa.diff', pair);
    if (!answer.ok) {
      throw new Error(answer.error ?? 'these programs cannot be compared');
    }
    return answer[side] ?? '';
  });
}

/** Compare a program with another one: the second of two that are selected, else one that is asked for. */
export async function compareWith(server: Server, pages: Pages, uri: vscode.Uri, selected?: vscode.Uri[]): Promise<Comparison | undefined> {
  const other = selected?.length === 2 ? selected.find((one) => one.toString() !== uri.toString()) : await asked(uri);
  if (other === undefined) {
    return undefined;
  }
  const pair = { uri: uri.toString(), other: other.toString() };
  const answer = await server.call<Comparison>('visa.diff', pair);
  if (!answer.ok) {
    void vscode.window.showErrorMessage(plain(`vISA: not compared: ${answer.error}`));
    return answer;
  }
  const message = plain(`vISA: ${summary(answer)}.`);
  if (answer.same) {
    void vscode.window.showInformationMessage(message);
    return answer;
  }
  const [left, right] = await Promise.all(
    (['a', 'b'] as const).map((side) => {
      const name = path.basename(side === 'a' ? uri.path : other.path).replace(/\.isa$/, '.visaasm');
      return pages.open(KIND, `${side}/${name}`, JSON.stringify({ ...pair, side }));
    }),
  );
  const title = `${path.basename(uri.path)} ↔ ${path.basename(other.path)} (names of the first)`;
  await vscode.commands.executeCommand('vscode.diff', left!.uri, right!.uri, title);
  void vscode.window.setStatusBarMessage(message, 10_000);
  return answer;
}

async function asked(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    defaultUri: vscode.Uri.joinPath(uri, '..'),
    filters: { 'vISA programs': ['visaasm', 'isaasm', 'isa'] },
    openLabel: 'Compare',
    title: `Compare ${path.basename(uri.path)} with`,
  });
  return chosen?.[0];
}
