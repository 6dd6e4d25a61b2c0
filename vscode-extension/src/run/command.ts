// The command "Run Kernel": as its launch file says, or as is proposed; the run itself with progress, its result in the panel.

import { readdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { plain } from '../plain.ts';
import { isTrustedFor } from '../trusted.ts';
import { messageOf, type Server } from '../server/client.ts';
import type { HeatLines } from '../performance/heat.ts';
import type { InlineValues } from '../views/inline.ts';
import { existingLaunchFile, isThere, launchFileOf, originOf } from '../views/origins.ts';
import type { QuickForm } from './form.ts';
import type { FaultMarks } from './marks.ts';
import { LAUNCH_SUFFIX, outline } from './launch.ts';
import type { ResultsPanel } from './panel.ts';
import type { Report } from './report.ts';
import { runLaunch, type Job, type Quick } from './runner.ts';

export class Runner {
  private readonly server: Server;
  private readonly panel: ResultsPanel;
  private readonly inline: InlineValues;
  private readonly form: QuickForm;
  private readonly heat: HeatLines;
  private readonly marks: FaultMarks;

  constructor(server: Server, panel: ResultsPanel, inline: InlineValues, form: QuickForm, heat: HeatLines, marks: FaultMarks) {
    this.server = server;
    this.panel = panel;
    this.inline = inline;
    this.form = form;
    this.heat = heat;
    this.marks = marks;
  }

  /** Runs a text or a launch file; gives the report, undefined where nothing was run. A text without launch file is run with proposals. */
  async run(uri: vscode.Uri, launch?: string, profile?: 'lanes'): Promise<Report | undefined> {
    if (!isTrustedFor('run')) {
      return undefined;
    }
    if (uri.path.endsWith(LAUNCH_SUFFIX)) {
      return this.perform({ uri, profile });
    }
    // Without a named launch file the server runs all that lie beside the text.
    const chosen = launch ?? (originOf(uri) && (await existingLaunchFile(uri))); // beside the source of a compiled text
    return chosen === undefined && !(await hasLaunchFile(uri)) ? this.propose(uri, profile) : this.perform({ uri, launch: chosen, profile });
  }

  /** Runs a text without a launch file with what the form would offer; the form, or a launch file of it, is one click away. */
  async propose(uri: vscode.Uri, profile?: 'lanes', quick: Quick = {}): Promise<Report | undefined> {
    const report = await this.perform({ uri, quick, profile });
    if (report !== undefined) {
      void this.offerForm(uri, report.kernel !== undefined);
    }
    return report;
  }

  private async offerForm(uri: vscode.Uri, ran: boolean): Promise<void> {
    const [change, save] = ['Change...', 'Save as Launch File'] as const;
    const name = path.basename(uri.path);
    const chosen = ran
      ? await vscode.window.showInformationMessage(plain(`vISA: ${name} has no launch file; it ran with proposed sizes and arguments.`), change, save)
      : await vscode.window.showWarningMessage(plain(`vISA: ${name} has no launch file, and did not run with proposed sizes and arguments.`), change);
    try {
      if (chosen === change) {
        await this.form.show(uri);
      } else if (chosen === save) {
        await this.form.save(uri, {});
      }
    } catch (error) {
      void vscode.window.showErrorMessage(plain(`vISA: ${messageOf(error)}`));
    }
  }

  /** Opens the form, whether there is a launch file or not. */
  async ask(uri: vscode.Uri): Promise<void> {
    if (isTrustedFor('run')) {
      await this.form.show(uri.path.endsWith(LAUNCH_SUFFIX) ? await sourceOf(uri) : uri);
    }
  }

  /** Runs what a form says. */
  async quick(uri: vscode.Uri, quick: Quick): Promise<Report | undefined> {
    return isTrustedFor('run') ? this.perform({ uri, quick }) : undefined;
  }

  private async perform(job: Job): Promise<Report | undefined> {
    const name = path.basename(job.uri.path);
    const before = versions();
    const options = { location: vscode.ProgressLocation.Notification, title: `vISA: ${job.profile === undefined ? 'running' : 'profiling'} ${name}`, cancellable: true };
    return vscode.window.withProgress(options, async (_, token) => {
      this.marks.clear();
      const report = await runLaunch(this.server, job, token);
      if (report !== undefined) {
        const source = await sourceOf(job.uri);
        this.panel.show(titleOfRun(name, report), report, source, () => void this.perform(job));
        if (sameText(source, before)) {
          this.marks.show(report, source);
          if (report.profile !== undefined) {
            this.heat.show(source, report.profile);
          }
        }
        await this.inline.update();
      }
      return report;
    });
  }

  /** Writes the launch file of a text, with what ze_info tells of the arguments, and opens it to be filled in. */
  async newLaunchFile(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
    if (!vscode.workspace.isTrusted) {
      return undefined;
    }
    const target = launchFileOf(uri);
    if (!(await isThere(target))) {
      const made = await this.server.call<{ ok: boolean; text?: string; error?: string }>('visa.launchTemplate', { uri: uri.toString() });
      if (!made.ok) {
        throw new Error(made.error ?? 'the server gave no launch file');
      }
      await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(made.text));
    }
    await vscode.window.showTextDocument(target);
    return target;
  }
}

/** The text's name; where several launch files ran, also that of the one in the report, and how many failed. */
function titleOfRun(name: string, report: Report): string {
  const failed = report.launches?.filter((launch) => !launch.ok).length ?? 0;
  const shown = path.basename(report.launch ?? name);
  return report.launches === undefined ? name : `${shown} (${report.launches.length} launches, ${failed} failed)`;
}

/** The open texts as they are: a profile of a text that was edited meanwhile tells of other lines. */
function versions(): Map<string, number> {
  return new Map(vscode.workspace.textDocuments.map(({ uri, version }) => [uri.toString(), version]));
}

function sameText(uri: vscode.Uri, before: Map<string, number>): boolean {
  const version = versions().get(uri.toString());
  return version === undefined || (before.get(uri.toString()) ?? version) === version;
}

async function hasLaunchFile(uri: vscode.Uri): Promise<boolean> {
  if (uri.scheme !== 'file') {
    return false;
  }
  const stem = path.basename(uri.fsPath).replace(/\.[^.]*$/, '');
  const names = await readdir(path.dirname(uri.fsPath)).catch(() => []);
  return names.some((name) => name.startsWith(`${stem}.`) && name.endsWith(LAUNCH_SUFFIX));
}

/** The text whose lines a report names. */
export async function sourceOf(uri: vscode.Uri): Promise<vscode.Uri> {
  if (!uri.path.endsWith(LAUNCH_SUFFIX)) {
    return uri;
  }
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  const stem = path.basename(uri.path).slice(0, -LAUNCH_SUFFIX.length);
  const file = outline(text).file ?? `${stem}.visaasm`;
  return path.isAbsolute(file) ? vscode.Uri.file(file) : vscode.Uri.joinPath(uri, '..', file);
}
