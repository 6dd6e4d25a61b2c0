// Answers of the server that are shown as documents or lists of the editor itself: ze_info, explanations, references.

import * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
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

export async function showZeInfo(server: Server, uri: vscode.Uri): Promise<void> {
  const answer = await server.call<Text>('visa.showZeInfo', { uri: uri.toString() });
  if (!answer.ok) {
    throw new Error(answer.error ?? 'there is no ze_info');
  }
  const shown = answer.path ? vscode.Uri.file(answer.path) : undefined;
  const guesses = answer.warnings ?? [];
  const made = { language: 'yaml', content: withGuesses(answer.text ?? '', guesses) };
  const document = await (shown ? vscode.workspace.openTextDocument(shown) : vscode.workspace.openTextDocument(made));
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true);
  if (guesses.length > 0) {
    const words = guesses.length === 1 ? 'one thing in this ze_info is guessed: its first line tells' : `${guesses.length} things in this ze_info are guessed: its first lines tell`;
    void vscode.window.showWarningMessage(`vISA: ${words}.`);
  }
}

/** The page of a word: asked for, with the word under the cursor as the offer. */
export async function explain(server: Server, given: string | undefined): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const range = editor?.document.getWordRangeAtPosition(editor.selection.active);
  const value = range ? editor!.document.getText(range) : '';
  const word = given ?? (await vscode.window.showInputBox({ title: 'Explain', value, prompt: 'An opcode, the code of a finding, or %a_variable' }));
  if (!word) {
    return;
  }
  const answer = await server.call<Text>('visa.explain', { word });
  if (!answer.ok) {
    void vscode.window.showWarningMessage(plain(`vISA: ${answer.error}`));
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: answer.markdown ?? '' });
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
