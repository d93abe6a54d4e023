/** Text that a model writes is never executed: it reaches tools as arguments, but never a shell. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { collect, type EnvHandle, openEnv, rollout, scriptedPolicy } from '@toolenv/core';
import bridge from '@toolenv/envs-qa/bridge-v1';
import { defineMcpEnv } from '@toolenv/mcp';
import { beforeAll, expect, test } from 'vitest';
import { newFolder } from './new-folder.ts';

const root = join(import.meta.dirname, '../..');

const folder = await newFolder();
let injections: string[];
beforeAll(async () => {
  const touch = `touch ${join(folder, 'run')}`;
  injections = [`$(${touch})`, `\`${touch}\``, `"; ${touch}; echo "`, `'\n${touch}\n`, `| ${touch} &`];
});

/** The tool's results for each injection, which is an argument, a tool's name, an argument's name and part of the answer. */
async function resultsOf<Task>(env: EnvHandle<Task>, tool: string, argument: string): Promise<string[]> {
  const played = await play(env, (turn) => [
    { name: tool, arguments: { [argument]: injections[turn] } },
    { name: injections[turn]!, arguments: { [injections[turn]!]: injections[turn] } },
  ]);
  return played.steps.slice(0, injections.length).map(({ calls }) => calls[0]!.text);
}

async function play<Task>(
  env: EnvHandle<Task>,
  calls: (turn: number) => { name: string; arguments: Record<string, unknown> }[],
) {
  const policy = scriptedPolicy((_, turn) => (turn < injections.length ? calls(turn) : injections.join('')));
  const episodes = [{ task: env.tasks.test.get(0), group: 0, sample: 0 }];
  const sampling = { maxTokens: 1, temperature: 0 };
  const [trajectory] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1 }));
  expect(trajectory!.outcome.kind).not.toBe('aborted');
  return trajectory!;
}

test('passes a model’s text to an MCP server unchanged', async () => {
  const require = createRequire(join(root, 'packages/mcp/package.json'));
  const json = require.resolve('@modelcontextprotocol/server-everything/package.json');
  const bin = Object.values<string>(JSON.parse(readFileSync(json, 'utf8')).bin)[0]!;
  const definition = defineMcpEnv({
    name: 'echo-v1',
    server: { command: process.execPath, args: [join(dirname(json), bin)] },
    tasks: [{ prompt: 'Say it.', answer: 'it' }],
  });
  const env = await openEnv(definition);
  const texts = await resultsOf(env, 'echo', 'message');
  await env.close();
  expect(texts).toEqual(injections.map((text) => `Echo: ${text}`));
  expect(existsSync(join(folder, 'run'))).toBe(false);
});

test('passes a model’s text to a search as a query', async () => {
  const env = await openEnv(bridge, {}, { from: root });
  const texts = await resultsOf(env, 'search', 'query');
  await env.close();
  expect(texts.length).toBeGreaterThan(1);
  expect(existsSync(join(folder, 'run'))).toBe(false);
});

// create-toolenv is excluded, because only people run it.
const packages = readdirSync(join(root, 'packages')).filter(
  (name) => name !== 'create-toolenv' && existsSync(join(root, 'packages', name, 'src')),
);

// Servers and agents are started by commands from people. `toolenv doctor` starts nvidia-smi, Node and Python by constant commands,
// `--open` the browser of the machine with an address of this process, `check` the npm that packs the author's package, a training run git, a
// Python that logs to Weights & Biases, the vLLM of a Python, and a Python with verifiers. A sandbox starts bubblewrap, in which the commands of a model run, and Python in WebAssembly is a program of Node.
const startProcesses = [
  'packages/cli/src/commands/doctor-report.ts',
  'packages/cli/src/commands/open-page.ts',
  'packages/cli/src/subject/packed-copy.ts',
  'packages/core/src/plugins/python-packages.ts',
  'packages/envs-harbor/src/box/agent-shell.ts',
  'packages/gateway/src/program.ts',
  'packages/libtorch/src/engine-client.ts',
  'packages/libtorch/src/install/python-installer.ts',
  'packages/mcp/src/client/server-process.ts',
  'packages/openai/src/vllm/vllm-process.ts',
  'packages/policy/src/runtime/probe-device.ts',
  'packages/sandbox/src/bubblewrap/bubble.ts',
  'packages/tools-code/src/python/python-process.ts',
  'packages/training/src/reports/wandb.ts',
  'packages/training/src/run-folder/run-config.ts',
  'packages/verifiers/src/player-process.ts',
];

/** It evaluates a constant text, under a time limit. */
const evaluateText = ['packages/policy/src/checkpoint/within-deadline.ts'];
/** `check` runs npm, which Windows finds by a shell alone; `command` runs the line of an environment's author. */
const useShells = ['packages/cli/src/subject/packed-copy.ts', 'packages/gateway/src/launch.ts'];

test('only known files start processes or evaluate text', () => {
  const sources = packages.flatMap((name) => {
    const src = join('packages', name, 'src');
    const files = readdirSync(join(root, src), { recursive: true, encoding: 'utf8' });
    return files.filter((file) => file.endsWith('.ts')).map((file) => join(src, file));
  });
  expect(sources.length).toBeGreaterThan(100);
  const using = (pattern: RegExp) =>
    sources.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));
  expect(using(/['"](node:)?child_process['"]/)).toEqual(startProcesses);
  // A role of an environment is named shell too: its tool runs in a sandbox.
  expect(
    using(
      /\bshell\s*:(?! (?:'@toolenv\/|await tools\.|(?:new )?AgentShell\b))|['"](node:)?vm['"]|\beval\(|new Function\(/,
    ),
  ).toEqual([...useShells, ...evaluateText]);
});
