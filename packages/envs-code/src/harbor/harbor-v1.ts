/** `harbor-v1`: task folders in Harbor's format. The agent works in a container by commands; a container that it never had judges. */
import { defineToolEnv, type EnvironmentCall, type Tool } from '@toolenv/core';
import { EpisodeTools, toolOf } from '../episode-tools.ts';
import { boxProperties } from './box/box-options.ts';
import { Boxes } from './box/boxes.ts';
import { HarborEpisode } from './harbor-episode.ts';
import { oracleOf } from './oracle.ts';
import type { PlayedTask } from './played-task.ts';
import { readTasks } from './task/read-tasks.ts';
import type { Verdict } from './verify/reward-file.ts';
import { verifierTool } from './verify/verifier-tool.ts';

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
  options: {
    properties: {
      tasks: {
        type: 'string',
        minLength: 1,
        description: 'a task folder, or a folder of them, also in folders named train, validation and test',
      },
      taskSplit: {
        enum: ['train', 'validation', 'test'],
        default: 'test',
        description: 'split of the tasks that are in no folder of a split',
      },
      verifier: {
        enum: ['fresh', 'shared'],
        default: 'fresh',
        description:
          'container of the tests; shared: the container that the agent controlled, which a hostile agent deceives',
      },
      network: {
        enum: ['none', 'declared'],
        default: 'none',
        description: 'network of containers; declared: that of the daemon, where a task asks for one',
      },
      hostVariables: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        default: [] as string[],
        description: 'variables of this process that tasks may read',
      },
      timeFactor: {
        type: 'number',
        exclusiveMinimum: 0,
        default: 1,
        description: 'factor for the times that tasks give their agents and verifiers',
      },
      artifacts: {
        type: 'integer',
        minimum: 1,
        default: 64,
        description: 'MiB of artifacts that a verifier gets',
      },
      ...boxProperties,
    },
    required: ['tasks'],
  },
  limits: { maxTurns: 50, maxCallsPerTurn: 1, toolTimeout: 140_000, maxToolCharacters: 16_384 },
  roles: { shell: '@toolenv/tools-code/bash-v1' },
  async setup({ options, tools, tap }) {
    if (options.verifier === 'shared') {
      const warning =
        'Tasks without a verifier of their own are judged in the container that the agent controlled, where it can forge its reward.';
      process.emitWarning(warning, 'HarborVerifier');
    }
    const tasks = await readTasks(options);
    const played = new Map<string, HarborEpisode>();
    const episode = (name: string) => played.get(name)!;
    const judge = async () => verifierTool(episode) as Tool;
    const verifier = tap ? await tap.tool('verifier', judge) : await judge();
    const shell = await tools.shell!({ sandboxes: { of: async (name: string) => episode(name).sandbox() } });
    const boxes = new Boxes(options);
    // A replay needs no containers.
    if (!tap) await boxes.connect();
    return { ...tasks, running: new EpisodeTools(), boxes, isReal: !tap, played, verifier, shell };
  },
  async teardown({ shell }) {
    await shell.close?.();
  },
  tasks: ({ shared: { splits } }) => splits,
  state: () => ({}) as State,
  rewards: {
    /** What the tests say, from 0 to 1. An episode that is cut off is judged as it is. */
    reward: { kind: 'outcome', score: async ({ state }) => (await state.judge!()).reward },
  },
  async episode({ task, episodeId, limits, options, state, shared, call }) {
    const { running, boxes, isReal, played, verifier, shell } = shared;
    const known = shared.known(task);
    // An image that does not build is reported here, and not to the model.
    if (isReal) await boxes.image(known.box);
    const name = running.begin(episodeId);
    const times = { command: Math.max(1000, limits.toolTimeout - slack), factor: options.timeFactor };
    const carried = { bytes: options.artifacts * 2 ** 20, entries: 10_000 };
    const episode = new HarborEpisode(known, boxes, { times, limits: carried });
    played.set(name, episode);
    state.judge = async () => {
      const judged: EnvironmentCall = await call(toolOf(verifier, name));
      episode.add(JSON.parse(judged.text) as Verdict);
      return episode;
    };
    return {
      messages: [
        { role: 'system', content: instruction },
        { role: 'user', content: task.instruction },
      ],
      tools: [toolOf(shell, name)],
      async onAnswer() {
        const { step, reward } = await state.judge!();
        return step ? { reply: step.instruction } : { end: 'answered', rewards: { reward } };
      },
      async close() {
        await episode.close();
        played.delete(name);
        await running.end(name, [shell]);
      },
    };
  },
  oracle: (task: PlayedTask) => oracleOf(task),
});
