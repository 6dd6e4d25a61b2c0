// The private environment: a venv in the extension's storage that holds the wheel shipped inside the .vsix.
// A .vsix for one platform ships the wheels of what the server needs too: then no package index is asked for what must be there.
// A stamp with the wheel's digest is written last; without it, or with another one, the environment does not count.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { runProcess, type Answer } from '../process.ts';
import { WrongSetting } from './missing.ts';

const PYTHONS = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3', 'python'];
const OLDEST = [3, 11];
// What is tried without a network gives up soon.
const BRIEFLY = ['--timeout', '5', '--retries', '0'];
const WINDOWS = process.platform === 'win32';

function place(context: vscode.ExtensionContext): { folder: string; stamp: string; bin: string } {
  const folder = path.join(context.globalStorageUri.fsPath, 'server');
  return { folder, stamp: path.join(folder, 'installed'), bin: path.join(folder, WINDOWS ? 'Scripts' : 'bin') };
}

interface Wheel {
  file: string;
  digest: string;
  /** The folder of what it needs, where that was shipped. */
  needed?: string;
}

async function wheelOf(context: vscode.ExtensionContext): Promise<Wheel | undefined> {
  const folder = context.asAbsolutePath(path.join('dist', 'server'));
  const names: string[] = await readdir(folder).catch(() => []);
  const name = names.find((n) => n.endsWith('.whl'));
  if (name === undefined) {
    return undefined;
  }
  const file = path.join(folder, name);
  const digest = createHash('sha256').update(await readFile(file)).digest('hex');
  return names.includes('needed') ? { file, digest, needed: path.join(folder, 'needed') } : { file, digest };
}

/** The program of the private environment, if the wheel of this extension is installed there. */
export async function privateProgram(context: vscode.ExtensionContext): Promise<string | undefined> {
  const { stamp, bin } = place(context);
  const [wheel, installed] = await Promise.all([wheelOf(context), readFile(stamp, 'utf8').catch(() => '')]);
  const current = installed !== '' && (wheel === undefined || wheel.digest === installed);
  return current ? path.join(bin, WINDOWS ? 'visa-lsp.exe' : 'visa-lsp') : undefined;
}

async function findPython(): Promise<string> {
  const configured = vscode.workspace.getConfiguration('visa').get<string>('python', '').trim();
  const script = 'import sys; print(*sys.version_info[:2])';
  for (const command of configured === '' ? PYTHONS : [configured]) {
    // Not in the opened folder: a `python3` lying there must not be found.
    const answer = await runProcess(command, ['-I', '-c', script], { cwd: path.parse(process.execPath).root });
    const [major = 0, minor = 0] = answer.stdout.trim().split(' ').map(Number);
    if (answer.code === 0 && (major > OLDEST[0]! || (major === OLDEST[0] && minor >= OLDEST[1]!))) {
      return command;
    }
  }
  const oldest = `Python ${OLDEST.join('.')} or later`;
  throw new WrongSetting(
    'visa.python',
    configured === ''
      ? `no ${oldest} was found (${PYTHONS.join(', ')}); the setting visa.python can name one`
      : `'${configured}' of the setting visa.python is no ${oldest}; the setting should name one, or be empty`,
  );
}

/** Nothing in the place of a failure, of which the output channel tells; whoever has cancelled has cancelled all. */
function unlessCancelled(error: unknown): undefined {
  if (error instanceof vscode.CancellationError) {
    throw error;
  }
  return undefined;
}

type Step = (message: string, command: string, args: string[]) => Promise<Answer>;

const PIP = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input'];

function ownPython(bin: string): string {
  return path.join(bin, WINDOWS ? 'python.exe' : 'python');
}

/** Runs programs one after another with progress; what they say goes to the output channel. */
async function inSteps(context: vscode.ExtensionContext, output: vscode.OutputChannel, title: string, work: (step: Step) => Promise<void>): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    await work(async (message, command, args) => {
      progress.report({ message });
      output.appendLine(`> ${command} ${args.join(' ')}`);
      const answer = await runProcess(command, args, {
        cwd: context.globalStorageUri.fsPath,
        token,
        onOutput: (text) => output.append(text),
      });
      if (token.isCancellationRequested) {
        throw new vscode.CancellationError();
      }
      if (answer.code !== 0) {
        const last = answer.stderr.trim().split('\n').at(-1) ?? '';
        throw new Error(`${message} failed: ${last || `exit status ${answer.code}`}`);
      }
      return answer;
    });
  });
}

/** Adds to the private environment what the extra `prove` needs. */
export async function installProver(context: vscode.ExtensionContext, output: vscode.OutputChannel): Promise<void> {
  const wheel = await wheelOf(context);
  if (wheel !== undefined) {
    const own = ownPython(place(context).bin);
    await inSteps(context, output, 'vISA proofs', async (step) => void (await step('installing Z3', own, [...PIP, `${wheel.file}[prove]`])));
  }
}

/** Makes the private environment; what pip says goes to the output channel. */
export async function installServer(context: vscode.ExtensionContext, output: vscode.OutputChannel): Promise<void> {
  const wheel = await wheelOf(context);
  if (wheel === undefined) {
    throw new Error('this build of the extension holds no server');
  }
  const { folder, stamp, bin } = place(context);
  await inSteps(context, output, 'vISA language server', async (step) => {
    await mkdir(context.globalStorageUri.fsPath, { recursive: true });
    await rm(folder, { recursive: true, force: true });
    const python = await findPython();
    await step('making a private environment', python, ['-m', 'venv', folder]);
    const own = ownPython(bin);
    const shipped = wheel.needed === undefined ? undefined : ['--no-index', '--find-links', wheel.needed];
    if (shipped === undefined) {
      await step('installing', own, [...PIP, `${wheel.file}[jit,embed]`]);
    } else {
      const done = await step('installing what was shipped', own, [...PIP, ...shipped, `${wheel.file}[run,embed]`]).catch(unlessCancelled);
      if (done === undefined) {
        // Another Python or platform than those that it was shipped for.
        await step('installing', own, [...PIP, `${wheel.file}[jit,embed]`]);
      } else {
        const engine = await step('asking for the compiled engine', own, [...PIP, ...BRIEFLY, `${wheel.file}[jit]`]).catch(unlessCancelled);
        if (engine === undefined) {
          output.appendLine('no package index was reached: kernels are interpreted; Install Language Server tries again');
        }
      }
    }
    await writeFile(stamp, wheel.digest);
  });
}
