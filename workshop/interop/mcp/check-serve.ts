/**
 * `npm run interop -- mcp-serve`: the clients of the Python SDK, FastMCP, mcp-go and rmcp and the Inspector's command line drive `toolenv
 * serve`, with and without sessions, over HTTP and stdio, and at the URL that an orchestrator gives to an agent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenedEnv, openEnv } from '@toolenv/core';
import type { ScoreRecord } from '@toolenv/mcp';
import { closing } from '../../closing.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { script } from '../../toolenv.ts';
import { check } from '../check.ts';
import { type Answer, type Driver, inspectorDriver, libraryDriver, type Target } from './drivers.ts';
import { goPeer, npmPeer, type Peer, pythonPeer, rustPeer } from './peers.ts';

const root = join(import.meta.dirname, '../../..');
const ref = '@toolenv/envs-classic/arithmetic-v1';
const controlToken = 'only-the-orchestrator-knows-this';
const inspectorVersion = '2.12.0';

interface Problem {
  question: string;
  answer: number;
}

type Connect = (target: Target, modern: boolean) => Promise<Driver>;

/** @param python Has the packages of mcp.txt. */
export async function checkServe(python: string): Promise<void> {
  const launcher = 'clients/launcher/build/index.js';
  const inspector = npmPeer('@modelcontextprotocol/inspector', inspectorVersion, launcher);
  const libraries: Record<string, Peer> = {
    'Python SDK': pythonPeer(python, 'drive.py', 'mcp'),
    FastMCP: pythonPeer(python, 'drive.py', 'fastmcp'),
    'mcp-go': goPeer('go', 'drive'),
    rmcp: rustPeer('drive'),
  };
  const clients: Connect[] = [
    ...Object.entries(libraries).map(
      ([library, program]): Connect =>
        (target, modern) =>
          libraryDriver(library, program, target, modern),
    ),
    async (target, modern) => inspectorDriver(inspector, target, modern),
  ];
  await using scratch = await scratchFolder();
  await using env = (await openEnv(ref)) as OpenedEnv<Problem>;
  for (const connect of clients)
    for (const modern of [false, true]) {
      const player = new Player(env, await mkdtemp(join(scratch.path, 'play-')), connect, modern);
      await player.overHttp();
      await player.atTheUrlOfAnEpisode();
      await player.overStdio();
    }
}

class Player {
  readonly #env: OpenedEnv<Problem>;
  /** For a file of scores of each play. */
  readonly #folder: string;
  readonly #connect: Connect;
  readonly #modern: boolean;

  constructor(env: OpenedEnv<Problem>, folder: string, connect: Connect, modern: boolean) {
    this.#env = env;
    this.#folder = folder;
    this.#connect = connect;
    this.#modern = modern;
  }

  async overHttp(): Promise<void> {
    const scores = join(this.#folder, 'http.jsonl');
    const server = await serve(scores);
    await this.#play({ url: server.url }, scores, 'over HTTP', this.#modern);
    await server.close();
  }

  async atTheUrlOfAnEpisode(): Promise<void> {
    const scores = join(this.#folder, 'episode.jsonl');
    const server = await serve(scores, controlToken);
    const headers = { authorization: `Bearer ${controlToken}` };
    const opened = await fetch(new URL('/episodes', server.url), { method: 'POST', headers });
    const { url } = (await opened.json()) as { url: string };
    await this.#play({ url }, scores, 'at the URL of an episode', false, true);
    await server.close();
  }

  async overStdio(): Promise<void> {
    const scores = join(this.#folder, 'stdio.jsonl');
    const command = [process.execPath, ...serveCommand(scores)];
    await this.#play({ command }, scores, 'over stdio', this.#modern);
  }

  /**
   * @param named Whether calls name their episode by a handle.
   * @param stays Whether a client that connects again has the same episode.
   */
  async #play(target: Target, scores: string, where: string, named: boolean, stays = false): Promise<void> {
    await using driver = closing(await this.#connect(target, this.#modern));
    const title = `${driver.title}, ${where}`;
    const { tools = [], ...listed } = await driver.tools();
    const parameters = Object.keys(tools[0]?.inputSchema.properties ?? {});
    const isListed = tools.map(({ name }) => name).join() === 'calculate,answer';
    const expected = named ? 'episode,expression' : 'expression';
    check(isListed && parameters.join() === expected, `${title}: lists the tools`, show({ tools, listed }));

    // A client that neither stays connected nor has a handle or an URL begins another episode with each request.
    const isWhole = driver.lasts || stays || (named && 'url' in target);
    const begun = await driver.prompt(named ? 'open' : 'observation');
    const handle = named ? { episode: String(begun._meta?.['toolenv/episode']) } : {};
    const problem = await this.#problemOf(begun);
    check(problem !== undefined, `${title}: reads the task`, show(begun));
    if (named && !isWhole) return;
    const call = (name: string, args: object) => driver.call(name, { ...handle, ...args });
    const right = await call('calculate', { expression: '6*7' });
    check(textOf(right) === '42' && !right.isError, `${title}: calls a tool`, show(right));
    const wrong = await call('calculate', { expression: 7 });
    check(isMistake(wrong, '/expression'), `${title}: is told that arguments are wrong`, show(wrong));
    if (driver.callsUnlisted) {
      const unknown = await call('calculat', {});
      const isKnown = isMistake(unknown, 'calculate');
      check(isKnown, `${title}: is told that there is no such tool`, show(unknown));
    }
    if (!isWhole || !problem) return;
    const ended = await call('answer', { text: `#### ${problem.answer}` });
    const isOver = textOf(ended) === 'The episode has ended.';
    check(isOver, `${title}: answers, and learns nothing of its reward`, show(ended));
    const score = await scoreIn(scores);
    const isScored = score?.reward === 1 && score.turns === (driver.callsUnlisted ? 4 : 3);
    check(isScored, `${title}: the right answer is scored`, show(score));
  }

  async #problemOf({ messages = [] }: Answer): Promise<Problem | undefined> {
    const texts = messages.map(({ content }) => content.text);
    const { test } = this.#env.tasks;
    const first = await Promise.all(Array.from({ length: 10 }, (_, i) => test.get(i)));
    return first.find(({ question }) => texts.includes(question));
  }
}

/** The first score in a file. It is written while the client reads its answer. */
async function scoreIn(file: string): Promise<ScoreRecord | undefined> {
  for (let wait = 0; wait < 100; wait++) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return JSON.parse(text.split('\n')[0]!);
    await sleep(100);
  }
  return undefined;
}

function serveCommand(scores: string, ...flags: string[]): string[] {
  return [...script, 'serve', ref, '--scores', scores, ...flags];
}

async function serve(scores: string, token?: string): Promise<{ url: string; close(): Promise<void> }> {
  const env = { ...process.env, ...(token && { TOOLENV_CONTROL_TOKEN: token }) };
  const child: ChildProcess = spawn(process.execPath, serveCommand(scores, '--http', '0'), {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [line] = await once(child.stderr!, 'data');
  const url = / is served at (\S+)/.exec(String(line))?.[1];
  if (!url) throw new Error(`toolenv serve: ${line}`);
  return {
    url,
    async close() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

const textOf = ({ content }: Answer) => content?.[0]?.text;

const isMistake = (answer: Answer, words: string) =>
  answer.isError === true && (textOf(answer)?.includes(words) ?? false);

const show = (value: unknown) => JSON.stringify(value)?.slice(0, 500) ?? 'nothing';
