// One launch file in the debugger, from its start to its end: what a test needs to know of that.

import * as vscode from 'vscode';
import { configurationOf } from './configuration.ts';
import { DEBUG_TYPE } from './model.ts';

/** How a session ended: with the exit status of the run, or without, where it was ended before. */
export interface Ended {
  status: number | undefined;
  said: string; // what the console was told at last, the report of the run
}

interface Event {
  event?: string;
  body?: { exitCode?: number; category?: string; output?: string };
}

/** Debugs a launch file for a test run, and waits for the end; undefined where the session did not begin. */
export async function debugLaunch(uri: vscode.Uri, stopOnEntry: boolean, testRun: vscode.TestRun, token: vscode.CancellationToken): Promise<Ended | undefined> {
  const ended: Ended = { status: undefined, said: '' };
  const mark = `${uri.toString()} ${Date.now()}`; // tells this session from others
  const isThis = (session: vscode.DebugSession): boolean => session.configuration['test'] === mark;
  const listeners: vscode.Disposable[] = [];
  const over = new Promise<Ended>((resolve) => {
    listeners.push(
      vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
        createDebugAdapterTracker: (session) => (isThis(session) ? { onDidSendMessage: (message: Event) => note(ended, message) } : undefined),
      }),
      vscode.debug.onDidStartDebugSession((session) => {
        if (isThis(session)) {
          listeners.push(token.onCancellationRequested(() => vscode.debug.stopDebugging(session)));
        }
      }),
      vscode.debug.onDidTerminateDebugSession((session) => isThis(session) && resolve(ended)),
    );
  });
  try {
    const configuration = { ...configurationOf(uri), stopOnEntry, test: mark };
    const started = await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), configuration, { testRun });
    return started ? await over : undefined;
  } finally {
    listeners.forEach((listener) => listener.dispose());
  }
}

function note(ended: Ended, { event, body }: Event): void {
  if (event === 'exited') {
    ended.status = body?.exitCode;
  } else if (event === 'stopped') {
    ended.said = ''; // the report comes behind the last stop
  } else if (event === 'output' && body?.category !== 'telemetry') {
    ended.said += body?.output ?? '';
  }
}
