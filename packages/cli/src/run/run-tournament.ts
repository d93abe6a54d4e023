/** `toolenv eval --players`: several policies play each other in an environment of several players. */
import { join } from 'node:path';
import { type OpenedEnv, type Policy, ToolEnvError } from '@toolenv/core';
import { append, type FolderLock } from '@toolenv/core/files';
import type { PolicyHandle } from '@toolenv/core/plugins';
import { encodeTrajectory } from '@toolenv/core/recording';
import { untilAborted } from '@toolenv/core/tools';
import { playTournament } from '@toolenv/training';
import { evaluationOptions } from '@toolenv/training/runs';
import { tournamentTable } from '../display/evaluation-table.ts';
import { plural } from '../display/number-text.ts';
import { Progress } from '../display/progress.ts';
import { flagName } from '../display/terminal-text.ts';
import type { PluginFlags } from '../flags/plugin-flags.ts';
import { completeFlags } from '../flags/schema-flags.ts';
import { Budget, budgetSchema } from './budget.ts';
import { lockEvaluationFolder, refuseEvaluationFolder, writeJson } from './evaluation-folder.ts';
import { type EnvFlags, openRunEnv } from './open-run.ts';
import { beginPolicy } from './recorded-options.ts';

/** A policy of the tournament. */
export interface TournamentPlayer {
  name: string;
  /** What `--players` names. */
  policy: string;
  plugin: PluginFlags<'policies'>;
}

/** Flags of `toolenv eval` that are about one policy. */
const ofOnePolicy =
  'policy resume record replay passScore failBelow against junit metric margin confidence'.split(' ');

/** @throws ToolEnvError `usage.arguments` for flags that a tournament has no use for. */
export async function runTournament(
  ref: string,
  players: readonly TournamentPlayer[],
  given: EnvFlags & { out?: string; json?: boolean } & Record<string, unknown>,
  namedEnv: PluginFlags<'envs'>,
  signal: AbortSignal,
): Promise<void> {
  refuseOthers(players, given);
  const flags = completeFlags(evaluationOptions, given);
  const { seed, temperature, split, deadline } = flags;
  const { out, json = false } = given;
  const budget = new Budget(completeFlags(budgetSchema, given));
  const chosenEnv = namedEnv.chosen(given);
  if (out !== undefined) await refuseEvaluationFolder(out, false);
  const open: (PolicyHandle | OpenedEnv<unknown>)[] = [];
  let bar: Progress | undefined;
  let lock: FolderLock | undefined;
  try {
    const env = await openRunEnv(chosenEnv, { ...given, seed });
    open.push(env);
    refuseClosedTable(namedEnv, env);
    const policies: Record<string, Policy> = {};
    for (const { name, plugin } of players) {
      const chosen = await beginPolicy(plugin.chosen(given), undefined);
      const policy = await untilAborted(signal, () =>
        chosen.plugin.open(chosen.options, { seed, signal, deadline }),
      );
      open.push(policy);
      policies[name] = budget.watch(policy);
    }
    if (out !== undefined) lock = await lockEvaluationFolder(out, false);
    const file = out === undefined ? undefined : join(out, 'trajectories.jsonl');
    let games = 0;
    const result = await playTournament({
      ...flags,
      ...{ env, policies, signal },
      async onGame(game, { ended, all }) {
        bar ??= new Progress('games', all);
        bar.update(ended, '');
        games = ended;
        if (file) await append(file, `${encodeTrajectory(game)}\n`);
      },
    }).catch((error: unknown) => {
      throw budget.errorOf(error, () => `${plural(games, 'game')} ended: raise the budget.`);
    });
    bar?.stop();
    const named = Object.fromEntries(players.map(({ name, policy }) => [name, policy]));
    const summary = { env: ref, envOptions: chosenEnv.options, players: named, ...flags, ...result };
    if (out !== undefined) await writeJson(join(out, 'tournament.json'), summary);
    const { of, count } = result.units;
    const manner = temperature === 0 ? 'greedy' : `temperature ${temperature}`;
    const over =
      of === 'tasks'
        ? plural(count, 'task')
        : `${plural(count, 'sample')} of ${plural(count / flags.samples, 'task')}`;
    const title = `${ref}, ${split}, ${manner}, seed ${seed}; means with 95 % confidence intervals over ${over}`;
    process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${title}\n${tournamentTable(result)}\n`);
  } finally {
    bar?.stop();
    try {
      for (const each of open.reverse()) await each.close?.();
    } finally {
      await lock?.release();
    }
  }
}

function refuseOthers(players: readonly TournamentPlayer[], given: Record<string, unknown>): void {
  const refuse = (message: string) => new ToolEnvError('usage.arguments', message);
  const flag = ofOnePolicy.find((name) => given[name] !== undefined);
  if (flag !== undefined) throw refuse(`${flagName(flag)} is not for --players: leave one of them out.`);
  const oracle = players.find(({ policy }) => policy === 'oracle');
  if (oracle === undefined) return;
  throw refuse(
    `--players ${oracle.name}=oracle: the oracle knows the turns of one seat only: name another policy.`,
  );
}

/** @throws ToolEnvError `usage.arguments` if the policy plays the first player only. */
function refuseClosedTable({ name, plugin }: PluginFlags<'envs'>, env: OpenedEnv<unknown>): void {
  if ((env.episode().spec.players ?? []).length > 0) return;
  const seats = Object.keys(plugin?.players ?? {}).map((player) => `${flagName(player)} self`);
  const remedy = seats.length > 0 ? `give ${seats.join(' ')}` : 'it declares none';
  throw new ToolEnvError(
    'usage.arguments',
    `--players: ${name} has no open seat besides the first: ${remedy}.`,
  );
}
