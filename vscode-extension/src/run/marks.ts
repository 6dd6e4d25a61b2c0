// Faults of the last run as diagnostics, on the line of the text and on that of the source it was compiled from. The next run
// and the first edit of a marked file clear them: lines have moved then, or the fault is mended.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { placeOf, type Fault, type Report } from './report.ts';

export class FaultMarks implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection('visa-run');
  private readonly listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (contentChanges.length > 0 && this.collection.has(document.uri)) {
      this.collection.clear();
    }
  });

  dispose(): void {
    this.listener.dispose();
    this.collection.dispose();
  }

  clear(): void {
    this.collection.clear();
  }

  /** Marks what a run of `text` has found. */
  show(report: Report, text: vscode.Uri): void {
    const marks = new Map<string, vscode.Diagnostic[]>();
    const add = (fault: Fault, place: vscode.Location | undefined, severity: vscode.DiagnosticSeverity): void => {
      if (place === undefined) {
        return;
      }
      const mark = new vscode.Diagnostic(place.range, `${fault.message}${fault.work_items && `\nwork items: ${fault.work_items}`}`, severity);
      mark.source = 'visa-lsp run';
      mark.code = fault.kind;
      const other = fault.other && locate(text, fault.other_place);
      if (other) {
        mark.relatedInformation = [new vscode.DiagnosticRelatedInformation(other, `other party: ${fault.other}`)];
      }
      const key = place.uri.toString();
      marks.set(key, [...(marks.get(key) ?? []), mark]);
    };
    const found: [Fault[], vscode.DiagnosticSeverity][] = [
      [report.faults ?? [], vscode.DiagnosticSeverity.Error],
      [report.findings ?? [], vscode.DiagnosticSeverity.Information],
    ];
    for (const [faults, severity] of found) {
      for (const fault of faults) {
        add(fault, locate(text, fault.place) ?? (fault.line === null ? undefined : lineOf(text, fault.line)), severity);
        add(fault, fault.source_excerpt === '' ? undefined : locate(text, fault.source), severity);
      }
    }
    this.collection.set([...marks].map(([uri, diagnostics]) => [vscode.Uri.parse(uri), diagnostics]));
  }
}

/** The line that `path:line` names, of a path beside the text; undefined for none. */
export function locate(text: vscode.Uri, where: string): vscode.Location | undefined {
  const place = placeOf(where);
  if (place === undefined) {
    return undefined;
  }
  const file = path.resolve(path.dirname(text.fsPath), place.file);
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
  return lineOf(open?.uri ?? vscode.Uri.file(file), place.line);
}

/** A line (from 1) without the blanks around it, as far as its text is known. */
export function lineOf(uri: vscode.Uri, number: number): vscode.Location {
  const line = Math.max(0, number - 1);
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open === undefined || line >= open.lineCount) {
    return new vscode.Location(uri, new vscode.Range(line, 0, line, 1000));
  }
  const { firstNonWhitespaceCharacterIndex: start, text } = open.lineAt(line);
  return new vscode.Location(uri, new vscode.Range(line, start, line, Math.max(start, text.trimEnd().length)));
}
