// Runs a launch with the program's own `run` command, in a process of its own: it can be cancelled, and a kernel that
// takes long does not stand in the server's way. The buffers come back whole, by way of a folder that is removed again.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type * as vscode from 'vscode';
import { runProcess } from '../process.ts';
import type { Report } from './report.ts';

export interface Job {
  launch: string | undefined; // path of the launch file
  source?: { text: string; path: string }; // the open text, saved or not; else the launch file says it
  platform?: string;
}

export interface Outcome {
  report: Report;
  files: (Uint8Array | undefined)[]; // each buffer as a .npy file
}

export async function runLaunch(program: string, job: Job, token: vscode.CancellationToken): Promise<Outcome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'visa-run-'));
  try {
    const args = ['run', '--format', 'json', '--out', folder];
    if (job.platform) {
      args.push('--platform', job.platform);
    }
    if (job.source === undefined) {
      args.push(job.launch!);
    } else {
      args.push('-', '--stdin-filename', job.source.path);
      if (job.launch !== undefined) {
        args.push('--launch', job.launch);
      }
    }
    const cwd = path.dirname(job.launch ?? job.source?.path ?? folder);
    const answer = await runProcess(program, args, { cwd, token, input: job.source?.text ?? '' });
    const report = reportOf(answer.stdout, job.launch ?? '', answer.stderr || `exit status ${answer.code}`);
    const buffers = report.buffers ?? [];
    const files = await Promise.all(buffers.map((b) => (b.path === null ? undefined : readFile(b.path).catch(() => undefined))));
    return { report, files };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function reportOf(stdout: string, launch: string, otherwise: string): Report {
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    return { launch, ok: false, error: otherwise.trim() };
  }
}
