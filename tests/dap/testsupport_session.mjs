// Sessions of Microsoft's client for tests of debug adapters: node testsupport_session.mjs MODULES PYTHON ADAPTER CASES
// MODULES is a folder with @vscode/debugadapter-testsupport, CASES a JSON file; prints what was seen of each, as JSON.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, python, adapter, cases] = process.argv.slice(2);
const { DebugClient } = createRequire(join(modules, 'package.json'))('@vscode/debugadapter-testsupport');

async function look(client, threadId, expressions) {
  const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
  const frameId = stackFrames[0].id;
  const { scopes } = (await client.scopesRequest({ frameId })).body;
  const { variables } = (await client.variablesRequest({ variablesReference: scopes[0].variablesReference })).body;
  const values = [];
  for (const expression of expressions) {
    values.push((await client.evaluateRequest({ expression, frameId })).body.result);
  }
  const stack = stackFrames.map((frame) => frame.name);
  return { line: stackFrames[0].line, stack, scopes: scopes.map((scope) => scope.name), names: variables.map((v) => v.name), values };
}

async function session({ program, line, filters, evaluate, steps, ...more }) {
  const client = new DebugClient(python, adapter, 'visa');
  client.defaultTimeout = 60_000;
  await client.start();
  try {
    const { threadId } = (await stopped(client, { program, ...more }, line, filters)).body;
    const seen = [await look(client, threadId, evaluate)];
    for (const step of steps) {
      await Promise.all([client.waitForEvent('stopped'), client[`${step}Request`]({ threadId })]);
      seen.push(await look(client, threadId, evaluate));
    }
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    await client.setExceptionBreakpointsRequest({ filters: [] });
    const over = Promise.all([client.waitForEvent('exited'), client.waitForEvent('terminated')]);
    await client.continueRequest({ threadId });
    const [exited] = await over;
    return { seen, exitCode: exited.body.exitCode };
  } finally {
    await client.stop();
  }
}

async function stopped(client, launch, line, filters) {
  const begun = client.waitForEvent('stopped');
  if (line) {
    await client.hitBreakpoint(launch, { path: launch.program, line });
  } else {
    const configured = client.waitForEvent('initialized').then(async () => {
      await client.setExceptionBreakpointsRequest({ filters });
      await client.configurationDoneRequest();
    });
    await Promise.all([configured, client.launch(launch), client.assertStoppedLocation('exception', {})]);
  }
  return begun;
}

const found = [];
for (const one of JSON.parse(readFileSync(cases, 'utf8'))) found.push(await session(one));
console.log(JSON.stringify(found));
process.exit(0);
