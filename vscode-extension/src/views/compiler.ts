// "Check with the Compiler": what Intel's OpenCL compiler says of the source in front, as problems of its own until the text changes.

import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import type { Server } from '../server/client.ts';

interface Place {
  line: number;
  character: number;
}

export interface CompilerAnswer {
  ok: boolean;
  error?: string;
  device?: string;
  compiled?: boolean;
  findings?: { range: { start: Place; end: Place }; severity: string; code: string; message: string }[];
}

export class CompilerCheck implements vscode.Disposable {
  private readonly server: Server;
  private readonly said = vscode.languages.createDiagnosticCollection('ocloc');
  private readonly subscriptions: vscode.Disposable[];

  constructor(server: Server) {
    this.server = server;
    this.subscriptions = [
      this.said,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => contentChanges.length > 0 && this.said.delete(document.uri)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.said.delete(uri)),
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }

  async check(uri: vscode.Uri): Promise<CompilerAnswer | undefined> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage('vISA: no compiler is started in an untrusted workspace.');
      return undefined;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    const version = document.version;
    const options = { location: vscode.ProgressLocation.Window, title: 'vISA: compiling', cancellable: true };
    const answer = await vscode.window.withProgress(options, (_, token) =>
      this.server.call<CompilerAnswer>('visa.checkWithCompiler', { uri: uri.toString() }, token),
    );
    if (!answer.ok) {
      void vscode.window.showErrorMessage(plain(`vISA: not compiled: ${answer.error}`));
    } else if (document.version === version) {
      this.said.set(uri, (answer.findings ?? []).map(problem));
      const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
      vscode.window.setStatusBarMessage(`vISA: ${name} ${answer.compiled ? 'compiles' : 'does not compile'} for ${answer.device}`, 10000);
    }
    return answer;
  }
}

function problem({ range, severity, code, message }: NonNullable<CompilerAnswer['findings']>[number]): vscode.Diagnostic {
  const { start, end } = range;
  const place = new vscode.Range(start.line, start.character, end.line, end.character);
  const made = new vscode.Diagnostic(place, message, severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning);
  made.source = 'ocloc';
  made.code = code;
  return made;
}
