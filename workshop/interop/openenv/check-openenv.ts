/**
 * `npm run interop -- openenv`: serves an environment to OpenEnv's own validator and clients, to TRL and to verifiers, and plays the
 * environment of OpenEnv's template here.
 */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Action, isParseFailure, type OpenedEnv, openEnv, playTask } from '@toolenv/core';
import { loadPlugin } from '@toolenv/core/plugins';
import { serveOpenEnv } from '@toolenv/openenv';
import { checkEnv } from '@toolenv/testing';
import { closing } from '../../closing.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { check } from '../check.ts';
import { freePort } from '../free-port.ts';
import { answering, jsonOf } from '../programs.ts';

const root = join(import.meta.dirname, '../../..');
const ref = '@toolenv/envs-qa/bridge-v1';
/** Tasks that each client plays. */
const tasks = 20;
/** Of rewards. */
const tolerance = 1e-9;

/** @param python Has the packages of openenv.txt. */
export async function checkOpenEnv(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  await using env = await openEnv(ref);
  await using service = closing(await serveOpenEnv(env, { split: 'train' }));
  await checkValidator(python, service.url);
  await checkClients(python, service.url, env);
  await checkVerifiers(python, service.url, env, scratch.path);
  await checkTrl(python, service.url, scratch.path);
  await checkTemplate(python, scratch.path);
}

async function checkValidator(python: string, url: string): Promise<void> {
  const args = ['-m', 'openenv.cli', 'validate', '--url', url, '--json'];
  type Validated = { passed: boolean; criteria: { passed: boolean }[] };
  const { criteria, passed } = await jsonOf<Validated>(python, args);
  const held = criteria.filter((each) => each.passed).length;
  check(passed && held === 6, 'openenv validate: 6 of 6 criteria', JSON.stringify(criteria));
}

interface PlayedEpisode {
  reward: number;
  done: boolean;
  steps: number;
}

interface Played {
  generic: PlayedEpisode[];
  mcp: PlayedEpisode[];
  tools: string[];
  called: string;
  mistake: string;
}

async function checkClients(python: string, url: string, env: OpenedEnv<unknown>): Promise<void> {
  const own = await playedHere(env);
  const scripts = own.map(({ actions }) => actions.map(toScript));
  const played = await jsonOf<Played>(python, [script('play.py'), url], scripts);
  for (const client of ['generic', 'mcp'] as const) {
    const same = played[client].filter(
      ({ reward, done, steps }, i) =>
        done && steps === own[i]!.actions.length && Math.abs(reward - own[i]!.reward) < tolerance,
    );
    const title = `OpenEnv's client (${client}): ${tasks} episodes with the rewards that they have here`;
    check(same.length === tasks, title, JSON.stringify({ theirs: played[client], ours: own }));
  }
  const tools = played.tools.join(', ');
  check(tools === 'search, episode_answer', "OpenEnv's client lists the tools", tools);
  check(played.called.length > 0, "OpenEnv's client calls a tool over HTTP", played.called);
  check(
    played.mistake.includes('unknown_tool'),
    "a mistake is a result of OpenEnv's client, and no exception",
    played.mistake,
  );
}

/** The episodes that the oracle plays in this process. */
async function playedHere(env: OpenedEnv<unknown>): Promise<{ actions: Action[]; reward: number }[]> {
  const definition = await loadPlugin('envs', ref);
  const played = [];
  for (let i = 0; i < tasks; i++) {
    const task = await env.tasks.train.get(i);
    const { steps, reward } = await playTask(env, task, definition.oracle!(task)!);
    played.push({ actions: steps.map(({ action }) => action), reward: reward! });
  }
  return played;
}

function toScript({ text, toolCalls }: Action): string | object[] {
  if (toolCalls.length === 0) return text;
  return toolCalls.flatMap((call) =>
    isParseFailure(call) ? [] : [{ name: call.name, arguments: call.arguments }],
  );
}

interface Trained {
  steps: number;
  rewards: number[];
  moved: number;
  calls: number[];
  seconds: number;
  trl: string;
}

async function checkTrl(python: string, url: string, scratch: string): Promise<void> {
  const checkpoint = join(root, 'packages/checkpoints/tiny');
  const args = [script('train_trl.py'), pythonPackage, url, checkpoint, join(scratch, 'trl')];
  const { trl, ...trained } = await jsonOf<Trained>(python, args);
  const { steps, rewards, moved, calls, seconds } = trained;
  const detail = JSON.stringify(trained);
  check(steps === 2 && moved > 0, `TRL ${trl}: two optimizer steps`, detail);
  check(
    new Set(rewards).size > 1 && calls.every((each) => each > 0),
    `TRL ${trl}: calls tools, and has rewards of this environment`,
    detail,
  );
  check(seconds < 60, `TRL ${trl}: in under 60 s`, detail);
}

async function checkVerifiers(
  python: string,
  url: string,
  env: OpenedEnv<unknown>,
  scratch: string,
): Promise<void> {
  const [own] = await playedHere(env);
  const turns = own!.actions.map(toScript);
  type Played = { reward: number; turns: number; verifiers: string };
  const args = [script('play_verifiers.py'), pythonPackage, url, scratch];
  const played = await jsonOf<Played>(python, args, turns);
  check(
    Math.abs(played.reward - own!.reward) < tolerance && played.turns === turns.length,
    `verifiers ${played.verifiers}: plays an episode with the reward that it has here`,
    JSON.stringify({ played, own: own!.reward }),
  );
}

async function checkTemplate(python: string, scratch: string): Promise<void> {
  const made = spawnSync(python, ['-m', 'openenv.cli', 'init', 'my_env'], { cwd: scratch, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`openenv init failed: ${made.stderr}`);
  const port = String(await freePort());
  const args = ['-m', 'uvicorn', 'server.app:app', '--port', port, '--log-level', 'error'];
  const server = spawn(python, args, {
    cwd: join(scratch, 'my_env'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    await answering(`${url}/health`, server, () => 'see its message above.');
    const { ok, findings, passed } = await checkEnv(`openenv:${url}`, { actions: 200 });
    const title = `the template of openenv init, as openenv:<url>: ${passed.length} rules hold`;
    check(ok && passed.length > 20, title, JSON.stringify(findings));
  } finally {
    server.kill();
  }
}

const pythonPackage = join(root, 'packages/openenv/python');

function script(name: string): string {
  return join(import.meta.dirname, name);
}
