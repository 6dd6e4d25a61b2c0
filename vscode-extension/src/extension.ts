// Puts the parts together and names the commands.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { Debugging } from './debug/configuration.ts';
import { ThreadLines } from './debug/gutter.ts';
import { LanesView } from './debug/lanes.ts';
import { LanesModel } from './debug/model.ts';
import { registerMoves } from './debug/moves.ts';
import { registerValues } from './debug/values.ts';
import { HeatLines } from './performance/heat.ts';
import { PressureView } from './performance/pressure.ts';
import { LiveRange } from './performance/range.ts';
import { Statistics } from './performance/stats.ts';
import { Runner } from './run/command.ts';
import { LaunchTests } from './run/testing.ts';
import { QuickForm } from './run/form.ts';
import { FaultMarks } from './run/marks.ts';
import { ResultsPanel } from './run/panel.ts';
import { Prover } from './run/prover.ts';
import { messageOf, Server } from './server/client.ts';
import { platformsOf, Status } from './status.ts';
import { CheckTasks } from './tasks.ts';
import { CodeView } from './views/code.ts';
import { compareWith, registerComparison } from './views/compare.ts';
import { isSource, SourceCompiler } from './views/compile.ts';
import { CompilerCheck } from './views/compiler.ts';
import { CursorLine } from './views/cursor.ts';
import { DumpLenses } from './views/dump.ts';
import { Blocks } from './views/embedded.ts';
import { FlowView } from './views/flow.ts';
import { MachineView } from './views/machine.ts';
import { InlineValues } from './views/inline.ts';
import { SourceCounts } from './views/source.ts';
import { explain, lineInFront, registerTexts, showReferences, showZeInfo } from './views/texts.ts';
import { ISA_SCHEME, IsaEditor } from './views/isa.ts';
import { keepOrigins } from './views/origins.ts';
import { PAGE_SCHEME, Pages } from './views/pages.ts';
import { WhyView } from './views/why.ts';
import type { Entry } from './views/whytree.ts';
import { ZebinEditor } from './views/zebin.ts';
import { welcomeOnce } from './welcome.ts';
import { plain } from './plain.ts';
import { isTrustedFor } from './trusted.ts';

/** What tests of the extension may look at. */
export interface Api {
  server: Server;
  tests: LaunchTests;
  results: ResultsPanel;
  flow: FlowView;
  machine: MachineView;
  status: Status;
  runner: Runner;
  prover: Prover;
  form: QuickForm;
  inline: InlineValues;
  zebin: ZebinEditor;
  lanes: LanesModel;
  threads: ThreadLines;
  heat: HeatLines;
  pressure: PressureView;
  range: LiveRange;
  why: WhyView;
}

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  keepOrigins(context.workspaceState);
  const output = vscode.window.createOutputChannel('vISA');
  const current = new Server(context, output, show);
  server = current;
  const results: ResultsPanel = new ResultsPanel(context, (uri, question) => void guarded(() => why.show(uri, question)));
  const why = new WhyView(current, (uri) => results.reportOf(uri));
  const inline = new InlineValues(current);
  const form: QuickForm = new QuickForm(context, current, (uri, quick): Promise<unknown> => runner.quick(uri, quick));
  const heat = new HeatLines();
  const marks = new FaultMarks();
  const runner = new Runner(current, results, inline, form, heat, marks);
  const flow = new FlowView(context, current, heat);
  const machine = new MachineView(context, current, heat);
  const code = new CodeView(current);
  const statistics = new Statistics(current);
  const range = new LiveRange(statistics);
  const pressure = new PressureView(context, statistics, range);
  const pages = new Pages();
  const prover = new Prover(context, current);
  const blocks = new Blocks(current);
  const compiler = new CompilerCheck(current);
  registerTexts(current, pages);
  registerComparison(current, pages);
  const sources = new SourceCompiler(context, current, platformsOf(context.extension.packageJSON));
  const isa = new IsaEditor(context, current);
  const zebin = new ZebinEditor(context, current, pages);
  const tests = new LaunchTests(current, results, inline);
  const debugging = new Debugging(current, inFront);
  const lanes = new LanesModel();
  const threads = new ThreadLines(context, lanes);
  const status = new Status(context, current);

  // Lenses and links of the server call its commands; what they do is shown in our views.
  function show(command: string, args: unknown[]): Promise<unknown> | undefined {
    const given = (typeof args[0] === 'object' && args[0] !== null ? args[0] : { uri: args[0] }) as Record<string, unknown>;
    const uri = typeof given['uri'] === 'string' ? vscode.Uri.parse(given['uri']) : undefined;
    const text = (key: string): string | undefined => (typeof given[key] === 'string' ? given[key] : undefined);
    switch (uri === undefined ? '' : command) {
      case 'visa.run':
        return runner.run(uri!, text('launch'));
      case 'visa.assemble':
        return assemble(uri!);
      case 'visa.openBlock':
        return blocks.open(uri!, typeof given['block'] === 'number' ? given['block'] : undefined);
      case 'visa.runBlock':
        return runBlock(uri!, typeof given['block'] === 'number' ? given['block'] : undefined);
      case 'visa.showControlFlow':
        return flow.show(uri!, text('kernel'));
      case 'visa.read':
        return code.show(uri!);
      case 'visa.gen':
        return machine.show(uri!);
      case 'visa.disassemble':
        return isa.showText(uri!);
      case 'visa.showReferences':
        return showReferences(uri!, args[1] as { line: number; character: number });
      default:
        return undefined;
    }
  }

  /** A block in another language runs as a kernel of its own: its operands are buffers, which the form can change. */
  async function runBlock(host: vscode.Uri, block?: number): Promise<unknown> {
    if (!isTrustedFor('run')) {
      return undefined;
    }
    const { uri, quick } = await blocks.kernel(host, block);
    return runner.propose(uri, undefined, quick);
  }

  async function assemble(uri: vscode.Uri): Promise<unknown> {
    if (!isTrustedFor('written')) {
      return undefined;
    }
    const answer = await current.call<{ ok: boolean; path?: string; bytes?: number; error?: string }>('visa.assemble', {
      uri: uri.toString(),
    });
    if (!answer.ok) {
      void vscode.window.showErrorMessage(plain(`vISA: not assembled: ${answer.error}`));
      return answer;
    }
    const open = 'Show Disassembly';
    const message = `vISA: wrote ${path.basename(answer.path ?? '')}, ${answer.bytes} bytes.`;
    void vscode.window.showInformationMessage(plain(message), open).then((chosen) => {
      if (chosen === open) {
        void openObject(vscode.Uri.file(answer.path!));
      }
    });
    return answer;
  }

  async function openObject(uri: vscode.Uri): Promise<void> {
    const object = uri.path.endsWith('.isa') ? uri : uri.with({ path: uri.path.replace(/\.[^.]*$/, '.isa') });
    await vscode.commands.executeCommand('vscode.openWith', object, 'visa.isa');
  }

  /** An object is shown by its disassembly, which is then the text. */
  async function textOf(uri: vscode.Uri): Promise<vscode.Uri> {
    return uri.path.endsWith('.isa') ? (await isa.showText(uri)).uri : uri;
  }

  /** Work that needs the server: without one, that is offered first; what goes wrong is told. */
  async function guarded(work: () => unknown): Promise<unknown> {
    try {
      return (await current.ready()) ? await work() : undefined;
    } catch (error) {
      void vscode.window.showErrorMessage(plain(`vISA: ${messageOf(error)}`));
      return undefined;
    }
  }

  const command = (name: string, work: (uri: vscode.Uri, more?: unknown) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(name, async (given?: vscode.Uri, more?: unknown) => {
      const uri = given instanceof vscode.Uri ? given : inFront();
      if (uri === undefined) {
        void vscode.window.showWarningMessage('vISA: open a .visaasm file first.');
        return undefined;
      }
      return guarded(() => work(uri, more));
    });

  /** A command about a program: of an OpenCL source it is the named kernel, else that of the cursor, compiled. */
  const onProgram = (name: string, work: (uri: vscode.Uri) => unknown): vscode.Disposable =>
    command(name, async (uri, kernel) => {
      const text = !isSource(uri) ? uri : isTrustedFor('compiled') ? await sources.textOf(uri, typeof kernel === 'string' ? kernel : undefined) : undefined;
      return text && work(text);
    });

  context.subscriptions.push(
    output,
    current,
    results,
    why,
    prover,
    marks,
    form,
    inline,
    flow,
    machine,
    code,
    isa,
    tests,
    status,
    blocks,
    compiler,
    new SourceCounts(current),
    sources,
    new CursorLine(current),
    new DumpLenses(current),
    debugging.register(),
    lanes,
    threads,
    new LanesView(context, lanes),
    heat,
    statistics,
    range,
    pressure,
    registerMoves(),
    registerValues(),
    onProgram('visa.runKernel', (uri) => runner.run(uri)),
    onProgram('visa.profileKernel', (uri) => runner.run(uri, undefined, 'lanes')),
    onProgram('visa.showPressure', (uri) => pressure.show(uri)),
    command('visa.markLiveRange', () => range.atCursor()),
    vscode.commands.registerCommand('visa.chooseHeat', () => heat.choose()),
    onProgram('visa.proveKernels', (uri) => prover.prove(uri)),
    onProgram('visa.explainValue', (uri) => why.ask(uri)),
    vscode.commands.registerCommand('visa.openCause', (entry: Entry) => why.open(entry)),
    onProgram('visa.debugKernel', (uri) => debugging.start(uri)),
    onProgram('visa.quickRun', (uri) => runner.ask(uri)),
    onProgram('visa.newLaunchFile', (uri) => runner.newLaunchFile(uri)),
    command('visa.assembleFile', assemble),
    command('visa.compareWith', (uri, selected) => compareWith(current, pages, uri, selected as vscode.Uri[] | undefined)),
    command('visa.compilerCheck', (uri) => compiler.check(uri)),
    command('visa.openAsVisa', (uri) => blocks.open(uri)),
    onProgram('visa.showFlowGraph', (uri) => flow.show(uri, undefined, lineInFront(uri))),
    onProgram('visa.showMachineCode', async (uri) => machine.show(await textOf(uri))),
    command('visa.readAsCode', async (uri) => code.show(await textOf(uri))),
    command('visa.showDisassembly', openObject),
    command('visa.openDisassemblyText', (uri) => isa.showText(uri)),
    command('visa.showZeInfoFile', (uri) => showZeInfo(current, pages, uri)),
    vscode.commands.registerCommand('visa.explainWord', (word?: string) => guarded(() => explain(current, pages, word))),
    vscode.commands.registerCommand('visa.showResults', () => results.reveal()),
    vscode.commands.registerCommand('visa.showTestBuffers', (item?: vscode.TestItem) => tests.showBuffers(item)),
    vscode.commands.registerCommand('visa.showLanes', () => vscode.commands.executeCommand('visa.lanes.focus')),
    vscode.commands.registerCommand('visa.selectPlatform', () => status.selectPlatform()),
    vscode.commands.registerCommand('visa.restartServer', () => current.restart()),
    vscode.commands.registerCommand('visa.installServer', () => current.install()),
    vscode.commands.registerCommand('visa.mendServer', () => current.ready()),
    vscode.window.registerCustomEditorProvider('visa.isa', isa, { webviewOptions: { retainContextWhenHidden: true } }),
    vscode.window.registerCustomEditorProvider('visa.zebin', zebin, { webviewOptions: { retainContextWhenHidden: true } }),
    vscode.workspace.registerTextDocumentContentProvider(ISA_SCHEME, isa),
    vscode.workspace.registerTextDocumentContentProvider(PAGE_SCHEME, pages),
    vscode.tasks.registerTaskProvider('visa', new CheckTasks(current)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('visa.serverPath') || change.affectsConfiguration('visa.embedded.enabled')) {
        void current.restart();
      }
    }),
  );
  void welcomeOnce(context);
  await current.restart();
  return { server: current, tests, results, flow, machine, status, runner, prover, form, inline, zebin, lanes, threads, heat, pressure, range, why };
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** The file in front: a text, or an object in its editor. */
function inFront(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (input instanceof vscode.TabInputCustom) {
    return input.uri;
  }
  return vscode.window.activeTextEditor?.document.uri;
}
