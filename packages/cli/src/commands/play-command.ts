/** `toolenv play`: a person plays the policy's part, in the terminal or in the browser. */
import { type EnvDefinition, type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { appendTrajectory } from '@toolenv/core/recording';
import { serveProperties } from '@toolenv/core/serving';
import { endView } from '../display/episode-view.ts';
import { paint } from '../display/paint.ts';
import { terminalWidth } from '../display/terminal-text.ts';
import { addPluginFlags, type Chosen } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { NoMoreTurns, TerminalPlayer } from '../play/terminal-player.ts';
import { type EnvFlags, envFlags, environmentHelp, openRunEnv } from '../run/open-run.ts';
import type { MakeCommand } from './make-command.ts';
import { stayOpen } from './stay-open.ts';

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
    port: {
      ...serveProperties.port,
      description: 'with --browser: port of the page on this machine, 0 for any free port',
    },
  },
} as const;

type Flags = EnvFlags & { out?: string; browser?: boolean } & Record<string, unknown>;

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Plays episodes by hand: you read what the policy reads, call tools, answer, and see the rewards. Finished episodes can be kept as training examples.',
    )
    .argument('<environment>', environmentHelp)
    .option('--browser', 'play in a web page, where tools are forms')
    .option(
      '--out <file>',
      'append finished episodes to this file; @toolenv/trainer-sft/sft-v1 takes the file as --data',
    );
  for (const flag of [...schemaFlags(schema), ...envFlags()]) command.addOption(flag);
  const { env } = await addPluginFlags(command, words);
  command.action((_: string, given: Flags) => play(given, env!.chosen(given), signal));
};

async function play(given: Flags, chosen: Chosen<'envs'>, signal: AbortSignal): Promise<void> {
  const { split, task: first, seed, port } = completeFlags(schema, given);
  const opened = await openRunEnv(chosen, { ...given, seed });
  try {
    const tasks = opened.tasks[split];
    const count = await tasks.length;
    if (count === 0) {
      const message = `${opened.ref} has no tasks in the split ${split}: give another --split.`;
      throw new ToolEnvError('usage.no_tasks', message);
    }
    const task = (number: number) => tasks.get((first + number - 1) % count);
    const episodes = { env: opened, task, seed, oracle: chosen.plugin.oracle, out: given.out };
    if (given.browser) await playInBrowser({ ...episodes, port }, signal);
    else await playInTerminal(episodes, signal);
  } finally {
    await opened.close();
  }
}

interface Episodes {
  env: OpenedEnv<unknown>;
  /** By the number of the episode, from 1. */
  task(number: number): unknown;
  seed: number;
  oracle: EnvDefinition['oracle'];
  out?: string | undefined;
}

async function playInBrowser(options: Episodes & { port: number }, signal: AbortSignal): Promise<void> {
  const { servePlay } = await import('@toolenv/view');
  const page = await servePlay(options);
  process.stdout.write(`${page.url}  (Ctrl-C ends it)\n`);
  await stayOpen(page, signal);
}

async function playInTerminal(
  { env, task, seed, oracle, out }: Episodes,
  signal: AbortSignal,
): Promise<void> {
  const { playByHand, solutionOf } = await import('@toolenv/view');
  const player = new TerminalPlayer(env.episode().spec.rewards, terminalWidth());
  try {
    for (let number = 1; ; number++) {
      player.begin();
      const trajectory = await playByHand({ env, task: await task(number), number, seed, player, signal });
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
