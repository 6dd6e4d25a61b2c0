// One VS Code and one browser for many scripts: each line of the input is JSON like ["views.mjs", FOLDER, PICTURES], a script with
// its arguments, and is answered by its steps and by {"passed": ...}. Usage: node session.mjs VSIX [SERVER]
// SERVER is the visa-lsp program, set as visa.serverPath in the machine's settings.

import { createInterface } from 'node:readline';
import { endSession, play, startSession } from './lib.mjs';

const [vsix, program] = process.argv.slice(2);
await startSession(vsix, program);
for await (const line of createInterface({ input: process.stdin })) {
  let passed = false;
  try {
    passed = await play(...JSON.parse(line));
  } catch (error) {
    console.error(error);
  }
  process.exitCode ||= passed ? 0 : 1;
  console.log(JSON.stringify({ passed }));
}
await endSession();
