/** `harbor-v1`: task folders in Harbor's format. The agent works in a container by commands; a container that it never had judges. */
import { defineToolEnv, type EnvironmentCall, type TaskSources, type Tool } from '@toolenv/core';
import { openHarbor } from './harbor.ts';
import type { HarborEpisode } from './harbor-episode.ts';
import { harborOptions } from './harbor-options.ts';
import { oracleOf } from './oracle.ts';
import type { PlayedTask } from './played-task.ts';
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
