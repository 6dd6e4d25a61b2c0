// Runs through the server's command: it works on the text as it is open, in a process that cancelling ends, and keeps what
// the run has left for its inline values. The buffers come back whole.

import type * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
import { messageOf } from '../server/client.ts';
import type { Report } from './report.ts';

/** A report of several, which says whose it is. */
export interface ToldReport extends Report {
  uri: string;
  process?: number; // that did the run
}

/** A launch file as an object; what it leaves out comes from ze_info. */
export type Quick = Record<string, unknown>;

export interface Job {
  uri: vscode.Uri; // a text, an object or a launch file
  launch?: string | undefined; // path of the launch file; else the sibling
  quick?: Quick | undefined; // instead of a launch file
  profile?: 'lanes' | undefined; // count executions, lanes and what messages do
}

/** The report; undefined where the run was cancelled. */
export async function runLaunch(server: Server, job: Job, token: vscode.CancellationToken): Promise<Report | undefined> {
  const { launch, quick, profile } = job;
  const uri = job.uri.toString();
  try {
    return await server.call<Report>('visa.run', { uri, data: 'base64', ...(launch && { launch }), ...(quick && { quick }), ...(profile && { profile }) }, token);
  } catch (error) {
    return token.isCancellationRequested ? undefined : { launch: launch ?? uri, ok: false, error: messageOf(error) };
  }
}

/** Runs launch files one after another in one process; `told` hears each report as soon as it is there. */
export async function runLaunches(server: Server, uris: string[], timeout: number, told: (report: ToldReport) => void, token: vscode.CancellationToken): Promise<void> {
  const argument = { uris, data: 'base64', ...(timeout > 0 && { timeout }) };
  const answer = await server.callInParts<ToldReport, { ok: boolean; error?: string }>('visa.runAll', argument, told, token);
  if (!answer.ok) {
    throw new Error(answer.error ?? 'the server has run nothing');
  }
}
