// Answers of the server that are shown as documents or lists of the editor itself: ze_info, explanations, references.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
import type { Pages } from './pages.ts';
import { pickWord, wordsOf, wordUnderCursor } from './words.ts';
import { withGuesses, type Guess } from './guesses.ts';
import { plain } from '../plain.ts';

interface Text {
  ok: boolean;
  error?: string;
  text?: string;
  markdown?: string;
  path?: string | null;
  warnings?: Guess[];
}

/** Makes the pages of this module. */
export function registerTexts(server: Server, pages: Pages): void {
  pages.register('explain', async (word) => {
    const answer = await server.call<Text>('visa.explain', { word });
    return answer.markdown ?? answer.error ?? '';
  });
  pages.register('ze_info', async (uri) => {
    const answer = await zeInfoOf(server, uri);
    return withGuesses(answer.text ?? '', answer.warnings ?? []);
  });
}

async function zeInfoOf(server: Server, uri: string): Promise<Text> {
  const answer = await server.call<Text>('visa.showZeInfo', { uri });
  if (!answer.ok) {
    throw new Error(answer.error ?? 'there is no ze_info');
  }
  return answer;
}

/** The file with the ze_info of a text, else a page with what is made of the text, or lies in a zebin. */
export async function showZeInfo(server: Server, pages: Pages, uri: vscode.Uri): Promise<void> {
  const answer = await zeInfoOf(server, uri.toString());
  const isText = /\.(zeinfo\.ya?ml|zeinfo|ze_info)$/.test(answer.path ?? '');
  const name = `${path.basename(uri.path).replace(/\.[^.]*$/, '')}.zeinfo.yaml`;
  const document = await (isText
    ? vscode.workspace.openTextDocument(vscode.Uri.file(answer.path!))
    : pages.open('ze_info', name, uri.toString()));
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true);
  const { length } = answer.warnings ?? [];
  if (length > 0) {
    const words = length === 1 ? 'one thing in this ze_info is guessed: its first line tells' : `${length} things in this ze_info are guessed: its first lines tell`;
    void vscode.window.showWarningMessage(`vISA: ${words}.`);
  }
}

/** The page of a word: asked for, with the word under the cursor as the offer. */
export async function explain(server: Server, pages: Pages, given: string | undefined): Promise<void> {
  const word = given ?? (await pickWord(await wordsOf(server), wordUnderCursor()));
  if (!word) {
    return;
  }
  const answer = await server.call<Text>('visa.explain', { word });
  if (!answer.ok) {
    void vscode.window.showWarningMessage(plain(`vISA: ${answer.error}`));
    return;
  }
  const document = await pages.open('explain', `${word}.md`, word);
  await vscode.commands.executeCommand('markdown.showPreviewToSide', document.uri);
}

export async function showReferences(uri: vscode.Uri, at: { line: number; character: number }): Promise<void> {
  // The place of a lens is the start of its line; the name is the last word there.
  const line = (await vscode.workspace.openTextDocument(uri)).lineAt(at.line).text;
  const column = /[\w$@?-]+"?\s*$/.exec(line.replace(/\/\/.*$/, ''))?.index ?? at.character;
  const place = new vscode.Position(at.line, column);
  const found = await vscode.commands.executeCommand<vscode.Location[]>('vscode.executeReferenceProvider', uri, place);
  await vscode.commands.executeCommand('editor.action.showReferences', uri, place, found);
}

/** The line of the cursor in a document that is in front. */
export function lineInFront(uri: vscode.Uri): number | undefined {
  const editor = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === uri.toString());
  return editor?.selection.active.line;
}
