// The thread that the debugger looks at, as one value: its variables by lane, the operand under the cursor, and where the
// other threads of its group stand. Asked for once at each stop, for all views. Who shows it is not known here.

import * as vscode from 'vscode';
import type { Format, LanesAnswer, OperandLanes } from './answers.ts';
import { operandAt } from './operand.ts';

export const DEBUG_TYPE = 'visa';

/** The languages of what is stepped through: texts, and listings of objects, which the language server is not asked about. */
export const LANGUAGES = ['visa', 'visa-listing'];

const PAUSE = 60; // milliseconds: a stop is told in several steps, and a cursor moves on

/** A stop as it is shown. */
export interface Stop {
  answer: LanesAnswer;
  source: vscode.Uri;
  thread: number;
  operand: OperandLanes | undefined;
}

interface Message {
  type: string;
  seq: number;
  command?: string;
  request_seq?: number;
  arguments?: { context?: string };
}

/** Whether values may be others behind a request, though nothing has run. */
function writes({ command, arguments: given }: Message): boolean {
  return ['setVariable', 'setExpression', 'writeMemory'].includes(command ?? '') || (command === 'evaluate' && given?.context === 'repl');
}

export class LanesModel implements vscode.Disposable {
  private stop: Stop | undefined;
  private chosen: number | undefined; // a thread that was chosen in our view, until the run goes on
  private shownAs: Format = 'declared';
  private timer: NodeJS.Timeout | undefined;
  private asked = 0;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly listeners: vscode.Disposable[];
  readonly onDidChange = this.changed.event;

  constructor() {
    this.listeners = [
      this.changed,
      vscode.debug.onDidChangeActiveStackItem(() => {
        this.chosen = undefined;
        this.later();
      }),
      vscode.debug.onDidTerminateDebugSession((session) => session.type === DEBUG_TYPE && this.later()),
      vscode.window.onDidChangeTextEditorSelection(() => this.stop !== undefined && this.later()),
      vscode.window.onDidChangeActiveTextEditor(() => this.stop !== undefined && this.later()),
      vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
        createDebugAdapterTracker: () => {
          const writing = new Set<number>();
          return {
            onWillReceiveMessage: (message: Message) => void (writes(message) && writing.add(message.seq)),
            onDidSendMessage: (message: Message) => void (writing.delete(message.request_seq ?? -1) && this.later()),
          };
        },
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.forEach((listener) => listener.dispose());
  }

  /** The stop that is shown; undefined while nothing is debugged, or while it runs. */
  get current(): Stop | undefined {
    return this.stop;
  }

  get format(): Format {
    return this.shownAs;
  }

  set format(format: Format) {
    this.shownAs = format;
    this.later();
  }

  /** Looks at another thread of the group. */
  async choose(thread: number): Promise<Stop | undefined> {
    this.chosen = thread;
    await this.update();
    return this.stop;
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), PAUSE);
  }

  /** Asks anew. Of two askings the later one counts; what cannot be answered any more, for the run goes on, is none. */
  private async update(): Promise<void> {
    const item = vscode.debug.activeStackItem;
    const mine = ++this.asked;
    let stop: Stop | undefined;
    if (item !== undefined && item.session.type === DEBUG_TYPE) {
      stop = await this.ask(item).catch(() => undefined);
    }
    if (mine === this.asked && (stop !== undefined || this.stop !== undefined)) {
      this.stop = stop;
      this.changed.fire();
    }
  }

  private async ask(item: vscode.DebugThread | vscode.DebugStackFrame): Promise<Stop> {
    const { session } = item;
    const frame = 'frameId' in item && this.chosen === undefined ? { frameId: item.frameId } : undefined;
    const thread = this.chosen ?? item.threadId;
    const where = frame ?? { threadId: thread };
    const format = this.shownAs === 'declared' ? {} : { format: { [this.shownAs]: true } };
    const lanes = (expression?: string): Thenable<LanesAnswer> =>
      session.customRequest('visaLanes', { ...where, ...format, ...(expression && { expression }) });
    const cursor = cursorOperand();
    // What is under the cursor may be no operand of this kernel.
    const answer = await (cursor === undefined ? lanes() : lanes(cursor.expression).then(undefined, () => lanes()));
    const source = sourceOf(answer, session);
    if (answer.region === undefined || cursor?.uri !== source.toString()) {
      delete answer.region;
      return { answer, source, thread, operand: undefined };
    }
    const operand = await this.values(session, cursor.expression, { ...where, ...format }, answer.lanes).catch(() => undefined);
    return { answer, source, thread, operand };
  }

  private async values(session: vscode.DebugSession, expression: string, where: object, lanes: number): Promise<OperandLanes> {
    const found = await session.customRequest('evaluate', { expression, context: 'hover', ...where });
    const { result, type, variablesReference } = found as { result: string; type: string; variablesReference: number };
    if (variablesReference === 0) {
      return { expression, type, values: [result] };
    }
    const asked = { variablesReference, filter: 'indexed', start: 0, count: lanes, ...where };
    const { variables } = (await session.customRequest('variables', asked)) as { variables: { value: string }[] };
    return { expression, type: type.replace(/ .*/s, ''), values: variables.map(({ value }) => value) };
  }
}

/** The operand under the cursor of the text in front. */
export function cursorOperand(): { expression: string; name: string; uri: string } | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !LANGUAGES.includes(editor.document.languageId)) {
    return undefined;
  }
  const { line, character } = editor.selection.active;
  const operand = operandAt(editor.document.lineAt(line).text, character);
  return operand && { ...operand, uri: editor.document.uri.toString() };
}

function sourceOf(answer: LanesAnswer, session: vscode.DebugSession): vscode.Uri {
  const { source } = answer.at;
  return source.path === undefined ? vscode.debug.asDebugSourceUri(source, session) : vscode.Uri.file(source.path);
}
