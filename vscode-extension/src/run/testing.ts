// The Testing view: each `*.launch.yaml` is a test: no fault, and what it expects. The server runs all that are asked for in one process.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { debugLaunch } from '../debug/session.ts';
import type { Server } from '../server/client.ts';
import { messageOf } from '../server/client.ts';
import type { InlineValues } from '../views/inline.ts';
import { sourceOf } from './command.ts';
import { textsOf, type Texts } from './difference.ts';
import { LAUNCH_SUFFIX, outline, type LaunchOutline } from './launch.ts';
import type { ResultsPanel } from './panel.ts';
import { placeIn, titleOf, type Report } from './report.ts';
import { runLaunches, type ToldReport } from './runner.ts';

const PATTERN = `**/*${LAUNCH_SUFFIX}`;

export class LaunchTests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('visa', 'vISA');
  private readonly watcher = vscode.workspace.createFileSystemWatcher(PATTERN);
  private readonly reports = new Map<string, Report>();
  private readonly outlines = new Map<string, LaunchOutline>();
  private readonly server: Server;
  private readonly panel: ResultsPanel;
  private readonly inline: InlineValues;

  constructor(server: Server, panel: ResultsPanel, inline: InlineValues) {
    this.server = server;
    this.panel = panel;
    this.inline = inline;
    this.controller.createRunProfile('Run', vscode.TestRunProfileKind.Run, (request, token) => this.run(request, token), true);
    this.controller.createRunProfile('Debug', vscode.TestRunProfileKind.Debug, (request, token) => this.debug(request, token), true);
    this.controller.refreshHandler = () => this.discover();
    this.watcher.onDidCreate((uri) => this.read(uri));
    this.watcher.onDidChange((uri) => this.read(uri));
    this.watcher.onDidDelete((uri) => this.controller.items.delete(uri.toString()));
    void this.discover();
  }

  dispose(): void {
    this.watcher.dispose();
    this.controller.dispose();
  }

  /** The names of the tests; tests of the extension ask. */
  get names(): string[] {
    return [...this.controller.items].map(([, item]) => item.label);
  }

  showBuffers(item: vscode.TestItem | undefined): void {
    const report = item && this.reports.get(item.id);
    if (item?.uri === undefined || report === undefined) {
      void vscode.window.showInformationMessage('vISA: run the test first.');
      return;
    }
    const uri = item.uri;
    void sourceOf(uri).then((source) =>
      this.panel.show(item.label, report, source, () => void vscode.commands.executeCommand('visa.runKernel', uri)),
    );
  }

  /** Runs what was asked for; public so that a test of the extension can run it and see the result. */
  async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const { run, items } = this.begin(request);
    if (vscode.workspace.isTrusted) {
      await this.runItems(run, items, token);
    } else {
      items.forEach((item) => run.skipped(item));
    }
    run.end();
    await this.inline.update();
  }

  /** Debugs one test after the other; public so that a test of the extension can do it. */
  async debug(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const { run, items } = this.begin(request);
    for (const item of items) {
      if (!vscode.workspace.isTrusted || token.isCancellationRequested) {
        run.skipped(item);
      } else {
        run.started(item);
        await this.debugItem(run, item, token);
      }
    }
    run.end();
  }

  private begin(request: vscode.TestRunRequest): { run: vscode.TestRun; items: vscode.TestItem[] } {
    const run = this.controller.createTestRun(request);
    const wanted = request.include ?? [...this.controller.items].map(([, item]) => item);
    const items = wanted.filter((item) => !request.exclude?.includes(item));
    items.forEach((item) => run.enqueued(item));
    return { run, items };
  }

  private async debugItem(run: vscode.TestRun, item: vscode.TestItem, token: vscode.CancellationToken): Promise<void> {
    // A test with a fault stops there by itself, one with a breakpoint at that one; of others the beginning is shown.
    const faults = this.reports.get(item.id)?.faults ?? [];
    const stopOnEntry = faults.length === 0 && !vscode.debug.breakpoints.some((point) => point.enabled);
    const started = Date.now();
    const ended = await debugLaunch(item.uri!, stopOnEntry, run, token);
    const time = Date.now() - started;
    if (ended?.status === undefined) {
      run.skipped(item); // ended by hand, or not begun: nothing is known of the result
    } else if (ended.status === 0) {
      run.passed(item, time);
    } else {
      const message = new vscode.TestMessage(ended.said.trim() || `the run ended with status ${ended.status}`);
      message.location = new vscode.Location(item.uri!, item.range ?? new vscode.Position(0, 0));
      run.failed(item, message, time);
    }
  }

  async runAll(): Promise<Report[]> {
    const source = new vscode.CancellationTokenSource();
    await this.run(new vscode.TestRunRequest(), source.token);
    return [...this.reports.values()];
  }

  private async discover(): Promise<void> {
    const found = await vscode.workspace.findFiles(PATTERN);
    await Promise.all(found.map((uri) => this.read(uri)));
  }

  private async read(uri: vscode.Uri): Promise<void> {
    const id = uri.toString();
    const text = await vscode.workspace.fs.readFile(uri).then((bytes) => new TextDecoder().decode(bytes), () => '');
    const found = outline(text);
    const item = this.controller.createTestItem(id, path.basename(uri.path).slice(0, -LAUNCH_SUFFIX.length), uri);
    item.description = found.kernel;
    item.range = new vscode.Range(found.expectLine, 0, found.expectLine, 0);
    this.outlines.set(id, found);
    this.controller.items.add(item);
  }

  private async runItems(run: vscode.TestRun, items: vscode.TestItem[], token: vscode.CancellationToken): Promise<void> {
    const waiting = new Map(items.map((item) => [item.id, item]));
    const finished: Promise<void>[] = [];
    let started = Date.now();
    const startNext = (): void => {
      started = Date.now();
      const next = waiting.values().next().value;
      if (next !== undefined) {
        run.started(next);
      }
    };
    const told = (report: ToldReport): void => {
      const item = waiting.get(report.uri);
      if (item !== undefined) {
        waiting.delete(report.uri);
        finished.push(this.finish(run, item, report, Date.now() - started));
        startNext();
      }
    };
    startNext();
    const timeout = vscode.workspace.getConfiguration('visa').get<number>('testTimeout', 0);
    let problem = '';
    try {
      await runLaunches(this.server, [...waiting.keys()], timeout, told, token);
    } catch (error) {
      problem = token.isCancellationRequested ? '' : messageOf(error);
    }
    await Promise.all(finished);
    for (const item of waiting.values()) {
      if (problem === '') {
        run.skipped(item);
      } else {
        run.errored(item, new vscode.TestMessage(problem));
      }
    }
  }

  private async finish(run: vscode.TestRun, item: vscode.TestItem, report: ToldReport, milliseconds: number): Promise<void> {
    this.reports.set(item.id, report);
    run.appendOutput(summary(item.label, report).replaceAll('\n', '\r\n'), undefined, item);
    if (report.ok) {
      run.passed(item, milliseconds);
      return;
    }
    try {
      run.failed(item, await this.messages(item, report), milliseconds);
    } catch (error) {
      run.errored(item, new vscode.TestMessage(messageOf(error)), milliseconds);
    }
  }

  /** What a failed test says, each where it belongs; public so that a test of the extension can look at it. */
  async messages(item: vscode.TestItem, report: Report): Promise<vscode.TestMessage[]> {
    const messages: vscode.TestMessage[] = [];
    const add = (text: string, uri: vscode.Uri, line: number, column = 0, texts?: Texts): void => {
      const message = texts === undefined ? new vscode.TestMessage(text) : vscode.TestMessage.diff(text, texts.expected, texts.got);
      message.location = new vscode.Location(uri, new vscode.Position(Math.max(0, line), Math.max(0, column)));
      messages.push(message);
    };
    const found = this.outlines.get(item.id);
    if (report.error !== undefined) {
      const place = placeIn(report.error);
      add(report.error, place ? vscode.Uri.file(place.file) : item.uri!, (place?.line ?? 1) - 1, (place?.column ?? 1) - 1);
    }
    report.expectations?.forEach((expectation, n) => {
      if (!expectation.ok) {
        const { differences, message } = expectation;
        const text = `${titleOf(report, expectation.arg)}: ${message}${differences ? `; ${differences.text}` : ''}`;
        const texts = textsOf(expectation, report.buffers?.find((buffer) => buffer.arg === expectation.arg));
        add(text, item.uri!, found?.itemLines[n] ?? found?.expectLine ?? 0, 0, texts);
      }
    });
    const source = await sourceOf(item.uri!);
    for (const fault of report.faults ?? []) {
      add(`${fault.kind}: ${fault.message}`, fault.line === null ? item.uri! : source, (fault.line ?? 1) - 1);
    }
    return messages;
  }
}

function summary(name: string, report: Report): string {
  if (report.kernel === undefined) {
    return `${name}: ${report.error}\n`;
  }
  const size = `${report.groups} groups, ${report.threads} threads, ${report.instructions} instructions`;
  const lines = [
    ...(report.expectations ?? []).map((e) => `${titleOf(report, e.arg)}: ${e.ok ? 'as expected' : e.message}`),
    ...(report.findings ?? []).map((found) => `${found.place || `line ${found.line ?? '?'}`}: ${found.kind}: ${found.message}`),
    ...(report.messages ?? []).map((sent) => `${sent.place || `line ${sent.line ?? '?'}`}: ${sent.kind} is recorded only, ${sent.reason}`),
  ];
  return [`${name}: kernel ${report.kernel} on ${report.platform}, ${report.engine}: ${size}`, ...lines.map((line) => `  ${line}`), ''].join('\n');
}
