// Runs through the server's command: it works on the text as it is open, in a process that cancelling ends, and keeps what
// the run has left for its inline values. The buffers come back whole.

import type * as vscode from 'vscode';
import type { Server } from '../server/client.ts';
import { messageOf } from '../server/client.ts';
import type { Report } from './report.ts';

/** A launch file as an object; what it leaves out comes from ze_info. */
export type Quick = Record<string, unknown>;

export interface Job {
  uri: vscode.Uri; // a text, an object or a launch file
  launch?: string | undefined; // path of the launch file; else the sibling
  quick?: Quick | undefined; // instead of a launch file
}

/** The report; undefined where the run was cancelled. */
export async function runLaunch(server: Server, job: Job, token: vscode.CancellationToken): Promise<Report | undefined> {
  const { launch, quick } = job;
  const uri = job.uri.toString();
  try {
    return await server.call<Report>('visa.run', { uri, data: 'base64', ...(launch && { launch }), ...(quick && { quick }) }, token);
  } catch (error) {
    return token.isCancellationRequested ? undefined : { launch: launch ?? uri, ok: false, error: messageOf(error) };
  }
}
