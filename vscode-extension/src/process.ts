// Runs a program to its end and collects what it prints. A program that cannot be started is an answer, not an exception.

import { spawn } from 'node:child_process';

export interface Answer {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Options {
  input?: string | Uint8Array;
  cwd?: string;
  token?: { onCancellationRequested(listener: () => void): { dispose(): void } };
  onOutput?: (text: string) => void;
}

export function runProcess(command: string, args: string[], options: Options = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: options.cwd, stdio: 'pipe', windowsHide: true });
    let stdout = '';
    let stderr = '';
    const cancelled = options.token?.onCancellationRequested(() => child.kill());
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onOutput?.(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      options.onOutput?.(text);
    });
    child.stdin.on('error', () => undefined); // the program may end before it has read everything
    const finish = (code: number | null): void => {
      cancelled?.dispose();
      resolve({ code, stdout, stderr });
    };
    child.on('error', (error) => {
      stderr += error.message;
      finish(null);
    });
    child.on('close', finish);
    child.stdin.end(options.input ?? '');
  });
}
