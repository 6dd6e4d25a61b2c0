// What is debugged and how: the configuration of a file in front, what a configuration leaves out, and the adapter, which is
// the program of the language server.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { LAUNCH_SUFFIX } from '../run/launch.ts';
import { existingLaunchFile, originOf } from '../views/origins.ts';
import { plain } from '../plain.ts';
import { launchOfFault } from '../tasks.ts';
import { isTrustedFor } from '../trusted.ts';
import { messageOf, type Server } from '../server/client.ts';
import { DEBUG_TYPE } from './model.ts';

const PROGRAM = /\.(visaasm|isaasm|isa|launch\.ya?ml)$/;

/** The configuration for a text, an object or a launch file. Raises an Error for what is on no disk. */
export function configurationOf(uri: vscode.Uri, launch?: string): vscode.DebugConfiguration {
  if (uri.scheme !== 'file') {
    throw new Error('only a file can be debugged; save the text first');
  }
  const name = `Debug ${path.basename(uri.path)}`;
  return { type: DEBUG_TYPE, request: 'launch', name, program: uri.fsPath, ...(launch !== undefined && { launch }) };
}

export class Debugging implements vscode.DebugConfigurationProvider, vscode.DebugAdapterDescriptorFactory {
  private readonly server: Server;
  private readonly inFront: () => vscode.Uri | undefined;

  constructor(server: Server, inFront: () => vscode.Uri | undefined) {
    this.server = server;
    this.inFront = inFront;
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, this),
      vscode.debug.registerDebugConfigurationProvider(
        DEBUG_TYPE,
        { provideDebugConfigurations: launchesOf },
        vscode.DebugConfigurationProviderTriggerKind.Dynamic,
      ),
      vscode.debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, this),
    );
  }

  /** Debugs a file; whether a session was started. */
  async start(uri: vscode.Uri, launch?: string): Promise<boolean> {
    const source = originOf(uri);
    const chosen = launch ?? (source && (await existingLaunchFile(uri))); // beside a text the adapter looks itself
    return vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(source ?? uri), configurationOf(uri, chosen));
  }

  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    return [{ type: DEBUG_TYPE, request: 'launch', name: 'Debug the vISA file in front', program: '${file}' }];
  }

  /** F5 without a launch.json has nothing in it: the file in front is meant. Undefined, with a message, where there is none. */
  resolveDebugConfiguration(_: vscode.WorkspaceFolder | undefined, given: vscode.DebugConfiguration): vscode.DebugConfiguration | undefined {
    if (!isTrustedFor('debugged')) {
      return undefined;
    }
    if (given['program'] || given['host']) {
      return given;
    }
    const uri = this.inFront();
    if (uri === undefined || !(PROGRAM.test(uri.path) || uri.scheme === 'untitled')) {
      void vscode.window.showErrorMessage('vISA: there is no program; open a .visaasm text, an .isa object or a launch file, or name one as "program".');
      return undefined;
    }
    try {
      return { ...given, ...configurationOf(uri) };
    } catch (error) {
      void vscode.window.showErrorMessage(`vISA: ${messageOf(error)}.`);
      return undefined;
    }
  }

  /** Fills in the platform of the settings, and stops on entry where no breakpoint would; of a `host`, its first fault is debugged. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (given['host']) {
      const { host, args, ...rest } = given;
      const fault = await this.faultOf(folder ?? vscode.workspace.workspaceFolders?.[0], String(host), args as string[] | undefined);
      if (fault === undefined) {
        return undefined;
      }
      const own = { ...rest, type: given.type, name: given.name, request: given.request, program: fault };
      return this.resolveDebugConfigurationWithSubstitutedVariables(folder, own);
    }
    const program = String(given['program']);
    const uri = vscode.Uri.file(program);
    const platform = vscode.workspace.getConfiguration('visa', uri).get<string>('platform', '');
    const isTold = program.endsWith('.isa') || originOf(uri) !== undefined; // it says itself what it is for
    return {
      ...(platform !== '' && !isTold && { platform }),
      stopOnEntry: !vscode.debug.breakpoints.some(isOurs),
      ...given,
    };
  }

  /** The launch file of the first fault of an OpenCL program; undefined, with a message, where there is none. */
  private async faultOf(folder: vscode.WorkspaceFolder | undefined, host: string, args: string[] = []): Promise<string | undefined> {
    if (folder === undefined) {
      void vscode.window.showErrorMessage('vISA: a program runs in a folder; open one.');
      return undefined;
    }
    const fault = await launchOfFault(await this.server.program(), folder, host, args);
    if (fault === undefined) {
      void vscode.window.showInformationMessage(`vISA: ${path.basename(host)} has ended without a fault.`);
    }
    return fault?.fsPath;
  }

  async createDebugAdapterDescriptor(): Promise<vscode.DebugAdapterDescriptor | undefined> {
    if (!vscode.workspace.isTrusted) {
      throw new Error('nothing is debugged in an untrusted workspace');
    }
    try {
      return new vscode.DebugAdapterExecutable(await this.server.program(), ['dap']);
    } catch (error) {
      await this.server.ready(); // what is missing is offered
      throw new Error(plain(messageOf(error)));
    }
  }
}

/** Whether a breakpoint may be one of a kernel: those in other languages are for other debuggers. */
function isOurs(point: vscode.Breakpoint): boolean {
  return point.enabled && (!(point instanceof vscode.SourceBreakpoint) || /\.(visaasm|isaasm)$/.test(point.location.uri.path));
}

/** A configuration for each launch file of the folder. */
async function launchesOf(folder: vscode.WorkspaceFolder | undefined): Promise<vscode.DebugConfiguration[]> {
  const pattern = `**/*${LAUNCH_SUFFIX}`;
  const found = await vscode.workspace.findFiles(folder === undefined ? pattern : new vscode.RelativePattern(folder, pattern), undefined, 200);
  return found.sort((a, b) => a.path.localeCompare(b.path)).map((uri) => configurationOf(uri));
}
