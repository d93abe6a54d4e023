/** `harbor-v1`: task folders in Harbor's format. The agent works in a container by commands; a container that it never had judges. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  defineTool,
  defineToolEnv,
  type EnvironmentCall,
  type Scripted,
  type TaskSources,
  type Tool,
  text,
} from '@toolenv/core';
import { parse } from 'smol-toml';
import { openHarbor } from './harbor.ts';
import type { HarborEpisode } from './harbor-episode.ts';
import { harborOptions } from './harbor-options.ts';
import type { PlayedTask } from './task/read-tasks.ts';
import { fillVariables } from './task/task-file.ts';
import type { Verdict } from './verify/reward-file.ts';

const instruction =
  'You work in a container, by commands in its shell. Do the task by commands. When it is done, answer with a word.';

/** Milliseconds of `toolTimeout` in which a command that takes too long is killed. */
const slack = 20_000;

/** What the hooks and the reward function of an episode share. */
interface State {
  /** Judges the step that the episode is in. */
  judge?(): Promise<HarborEpisode>;
}

export default defineToolEnv({
  name: 'harbor-v1',
  description: "Tasks in Harbor's format, in containers; their tests decide.",
  // Docker and podman are servers.
  capabilities: { networked: true },
  options: harborOptions,
  prompts: { system: instruction },
  limits: { maxTurns: 50, maxCallsPerTurn: 1, toolTimeout: 140_000, maxToolCharacters: 16_384 },
  roles: { shell: '@toolenv/tools-code/bash-v1' },
  async setup({ options, tools, tap }) {
    const harbor = await openHarbor(options);
    // A replay needs no containers.
    if (!tap) await harbor.connect();
    const played = new Map<string, HarborEpisode>();
    const episode = (name: string) => played.get(name)!;
    const judge = async () => verifierTool(episode) as Tool;
    const verifier = tap ? await tap.tool('verifier', judge) : await judge();
    const shell = await tools.shell!({ sandboxes: { of: async (name: string) => episode(name).sandbox() } });
    return { harbor, isReal: !tap, played, verifier, shell };
  },
  async teardown({ shell, harbor }) {
    await shell.close?.();
    await harbor.close();
  },
  // A folder need not have tasks of every split.
  tasks: ({ shared: { harbor } }): TaskSources<PlayedTask> =>
    Object.fromEntries(Object.entries(harbor.tasks).filter(([, tasks]) => tasks.length > 0)),
  state: () => ({}) as State,
  rewards: {
    /** What the tests say, from 0 to 1. An episode that is cut off is judged as it is. */
    tests: { kind: 'outcome', score: async ({ state }) => (await state.judge!()).reward },
  },
  async episode({ prompt, task, episodeId, limits, state, shared, call }) {
    const { harbor, isReal, played, verifier, shell } = shared;
    // An image that does not build is reported here, and not to the model.
    if (isReal) await harbor.prepare(task);
    const episode = harbor.begin(task, { commandTime: Math.max(1000, limits.toolTimeout - slack) });
    played.set(episodeId, episode);
    state.judge = async () => {
      const judged: EnvironmentCall = await call(verifier);
      episode.add(JSON.parse(judged.text) as Verdict);
      return episode;
    };
    return {
      messages: [
        { role: 'system', content: prompt('system') },
        { role: 'user', content: task.instruction },
      ],
      tools: [shell],
      async onAnswer() {
        const { step, reward } = await state.judge!();
        return step ? { reply: step.instruction } : { end: 'answered', rewards: { tests: reward } };
      },
      async close() {
        await episode.close();
        played.delete(episodeId);
      },
    };
  },
  oracle: (task: PlayedTask) => oracleOf(task),
});

/** Milliseconds of a call: more than the times of a task's commands together, each of which is limited by itself. */
const longest = 24 * 3_600_000;

/** Judges a step. The model neither sees nor reaches the tool; trajectories keep its calls. Its result is a `Judgement` as JSON. */
function verifierTool(episode: (name: string) => HarborEpisode): Tool<Record<never, never>> {
  const tool = defineTool({
    name: 'verifier',
    description: 'Runs the tests of the step.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    timeout: longest,
    execute: async (_, { episodeId, signal }) => text(JSON.stringify(await episode(episodeId).judge(signal))),
  });
  return tool;
}

/** Characters of a file, as base64, in one command. */
const part = 60_000;

/** Brings the files of solution/ into the container by commands, as an agent would, and runs solve.sh. `undefined` for a task whose steps do not all have a solution. */
function oracleOf({ folder, steps }: PlayedTask): Scripted[] | undefined {
  const places = steps.map((name) => [...(name === '' ? [] : [join(folder, 'steps', name)]), folder]);
  const solutions = places.map((each) =>
    each.map((place) => join(place, 'solution')).find((place) => existsSync(join(place, 'solve.sh'))),
  );
  if (solutions.includes(undefined)) return undefined;
  const env = solutionEnv(join(folder, 'task.toml'));
  return solutions.flatMap((solution) => [...commandsOf(solution!, env).map(bash), 'Done.']);
}

function bash(command: string): Scripted {
  return [{ name: 'bash', arguments: { command } }];
}

function commandsOf(solution: string, env: Readonly<Record<string, string>>): string[] {
  // An agent that is not root may have no /solution.
  const enter = 'S=/solution; mkdir -p $S 2>/dev/null && [ -w $S ] || S=/tmp/solution';
  const writing = filesIn(solution).flatMap((path) => {
    const text = readFileSync(join(solution, path)).toString('base64');
    const at = `"$S"/${quote(path)}`;
    const parts = Array.from({ length: Math.ceil(text.length / part) }, (_, index) =>
      text.slice(index * part, (index + 1) * part),
    );
    return [
      `mkdir -p "$(dirname ${at})"; : > ${at}; chmod +x ${at}`,
      ...parts.map((each) => `echo ${each} | base64 -d >> ${at}`),
    ];
  });
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}; `);
  const lines = [enter, ...writing, `(${variables.join('')}"$S"/solve.sh)`];
  return packed(lines, enter);
}

/** Lines in as few commands as hold them. */
function packed(lines: readonly string[], first: string): string[] {
  const commands: string[] = [];
  for (const line of lines) {
    const last = commands.at(-1);
    if (last !== undefined && last.length + line.length < 1.2 * part)
      commands[commands.length - 1] = `${last}\n${line}`;
    else commands.push(line === first ? line : `${first}\n${line}`);
  }
  return commands;
}

function filesIn(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below))
    .sort()
    .flatMap((name) => {
      const path = join(below, name);
      return statSync(join(folder, path)).isDirectory() ? filesIn(folder, path) : [path];
    });
}

function solutionEnv(file: string): Record<string, string> {
  const { solution } = parse(readFileSync(file, 'utf8')) as { solution?: { env?: Record<string, unknown> } };
  return fillVariables(solution?.env, { file, key: 'solution.env', allowed: [] });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
