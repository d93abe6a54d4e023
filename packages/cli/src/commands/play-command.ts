/** `toolenv play`: a person plays the policy's part, in the terminal or in the browser. */
import { type Action, type EnvDefinition, type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { appendTrajectory, readTrajectories } from '@toolenv/core/recording';
import type { Replayed } from '@toolenv/view';
import { findRecordedRun } from '@toolenv/view/recorded';
import { endView } from '../display/episode-view.ts';
import { paint } from '../display/guarded-output.ts';
import { plural } from '../display/number-text.ts';
import { safeLine, terminalWidth } from '../display/terminal-text.ts';
import { refuseWithout } from '../flags/missing-options.ts';
import { addPluginFlags, type ResolvedPlugin } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { NoMoreTurns, TerminalPlayer } from '../play/terminal-player.ts';
import { type EnvFlags, envFlags, environmentHelp, openRunEnv } from '../run/open-run.ts';
import type { MakeCommand } from './commands.ts';
import { openFlag, openInBrowser, portOf, portProperty, stayOpen } from './open-page.ts';

const schema = {
  type: 'object',
  properties: {
    split: {
      enum: ['train', 'validation', 'test'],
      default: 'train',
      description: 'split of the tasks',
    },
    task: { type: 'integer', minimum: 0, default: 0, description: 'number of the first task' },
    seed: { type: 'integer', default: 0, description: 'seed of the environment and its episodes' },
    turns: {
      type: 'integer',
      minimum: 0,
      description: 'with --episode: number of recorded turns to replay (default: all but the last)',
    },
    port: portProperty('play', 'with --browser: '),
  },
} as const;

type Flags = EnvFlags & { out?: string; browser?: boolean; open?: boolean; episode?: string } & Record<
    string,
    unknown
  >;

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Plays episodes by hand: you read what the policy reads, call tools, answer, and see the rewards. Finished episodes can be kept as training examples.',
    )
    .argument('<environment>', environmentHelp)
    .option(
      '--episode <run:number>',
      'begin with the task and the turns of a recorded episode, such as runs/first:12, with the options of its run',
    )
    .option('--browser', 'play in a web page, where tools are forms')
    .addOption(openFlag('with --browser: '))
    .option(
      '--out <file>',
      'append finished episodes to this file; @toolenv/trainer-sft/sft-v1 takes the file as --data',
    );
  for (const flag of [...schemaFlags(schema), ...envFlags()]) command.addOption(flag);
  const { env } = await addPluginFlags(command, words);
  command.action(async (_: string, given: Flags) => {
    refuseWithout(given, { turns: 'episode', open: 'browser', port: 'browser' });
    const { turns } = completeFlags(schema, given);
    const start = given.episode === undefined ? undefined : await readRecordedStart(given.episode, turns);
    await play(given, { chosen: env!.chosen(given, start?.options), start }, signal);
  });
};

async function play(
  given: Flags,
  { chosen, start }: { chosen: ResolvedPlugin<'envs'>; start: RecordedStart | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { split, task: first, seed, port } = completeFlags(schema, given);
  const opened = await openRunEnv(chosen, { ...given, seed });
  try {
    if (start) announce(start, opened);
    const tasks = opened.tasks[split];
    const count = await tasks.length;
    if (count === 0 && !start) {
      const message = `${opened.ref} has no tasks in the split ${split}: give another --split.`;
      throw new ToolEnvError('usage.no_tasks', message);
    }
    const isRecorded = (number: number) => start !== undefined && (number === 1 || count === 0);
    const task = (number: number) =>
      isRecorded(number) ? start!.task : tasks.get((first + number - 1) % count);
    const replayed = (number: number) => (isRecorded(number) ? start : undefined);
    const episodes = { env: opened, task, seed, replayed, oracle: chosen.plugin.oracle, out: given.out };
    const page = { ...episodes, port, isOpened: given.open };
    if (given.browser) await playInBrowser(page, signal);
    else await playInTerminal(episodes, signal);
  } finally {
    await opened.close();
  }
}

/** @throws ToolEnvError `usage.arguments` for an episode of another environment. */
function announce({ env, number, actions, turns }: RecordedStart, opened: OpenedEnv<unknown>): void {
  if (env !== opened.ref) {
    const message = `The episode is of ${safeLine(env)}, not of ${opened.ref}: name its environment.`;
    throw new ToolEnvError('usage.arguments', message);
  }
  const replays = `Replays ${actions.length} of ${plural(turns, 'turn')} of episode ${number}; the next is yours.`;
  process.stderr.write(`${replays}\n`);
}

interface Episodes {
  env: OpenedEnv<unknown>;
  /** By the number of the episode, from 1. */
  task(number: number): unknown;
  seed: number;
  replayed(number: number): Replayed | undefined;
  oracle: EnvDefinition['oracle'];
  out?: string | undefined;
}

async function playInBrowser(
  { port, isOpened, ...episodes }: Episodes & { port: number | undefined; isOpened: boolean | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { servePlay } = await import('@toolenv/view');
  const page = await servePlay({ ...episodes, port: await portOf('play', port) });
  process.stdout.write(`${page.url}  (Ctrl-C ends it)\n`);
  if (isOpened) openInBrowser(page.url);
  await stayOpen(page, signal);
}

async function playInTerminal(
  { env, task, seed, replayed, oracle, out }: Episodes,
  signal: AbortSignal,
): Promise<void> {
  const { playByHand, solutionOf } = await import('@toolenv/view');
  const player = new TerminalPlayer(env.episode().spec.rewards, terminalWidth());
  try {
    for (let number = 1; ; number++) {
      player.begin();
      const episode = { env, task: await task(number), number, seed, replayed: replayed(number) };
      const trajectory = await playByHand({ ...episode, player, signal });
      process.stdout.write(`${endView(trajectory)}\n`);
      if (out !== undefined) {
        await appendTrajectory(out, trajectory);
        process.stdout.write(`${paint('dim', `          kept in ${out}`)}\n`);
      }
      player.showSolution(await solutionOf(oracle, trajectory));
      if (!(await player.confirm('another episode?', 'Write y for another episode, or n to end.', signal)))
        return;
    }
  } catch (error) {
    if (!(error instanceof NoMoreTurns)) throw error;
    process.stdout.write('\n');
  } finally {
    player.close();
  }
}

interface RecordedStart extends Replayed {
  /** Reference of the environment. */
  env: string;
  /** In the file, from 0. */
  number: number;
  task: unknown;
  /** Turns of the whole episode. */
  turns: number;
  /** The options that the run gave the environment. */
  options: Record<string, unknown>;
}

/**
 * The recorded episode that `toolenv play --episode` begins with.
 * @param place A run's folder or a file of trajectories, and the number of an episode in it: `runs/first:12`. Without a number, the first.
 * @param turns Turns to replay. Default: all but the last.
 * @throws ToolEnvError `usage.no_run`, `usage.no_episode`, and what reading the file throws.
 */
async function readRecordedStart(place: string, turns?: number): Promise<RecordedStart> {
  const [, path = place, digits = '0'] = /^(.+):(\d{1,9})$/.exec(place) ?? [];
  const number = Number(digits);
  const { episodes, facts } = findRecordedRun(path);
  if (episodes === undefined) throw new ToolEnvError('usage.no_episode', `${path} kept no episodes.`);
  let read = 0;
  for await (const { env, task, seed, steps } of readTrajectories(episodes)) {
    if (read++ < number) continue;
    const options = facts.env === env ? Object(facts.envOptions) : {};
    const actions = steps.slice(0, turns ?? steps.length - 1).map(({ action }) => withoutTokens(action));
    return { env, number, task, seed, actions, turns: steps.length, options };
  }
  const message = `${path} has ${read} episodes, so there is no episode ${number}: they are counted from 0.`;
  throw new ToolEnvError('usage.no_episode', message);
}

/** The tokens of a policy say nothing of what a person writes after them. */
function withoutTokens({ text, toolCalls, stopReason }: Action): Action {
  return { text, toolCalls, stopReason };
}
