/** compareTrainers: what several trainers make of the same first step, in one environment and with one policy. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvHandle, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import type { Trainer } from '@toolenv/core/plugins';
import { toTrainingRows } from '@toolenv/training';
import { acceptedOptions } from './accepts-option.ts';
import { type LearnedRow, SpyLearner } from './spy-learner.ts';

export interface CompareTrainersOptions {
  env: EnvHandle<unknown>;
  /** Opens the policy anew, for each trainer. */
  openPolicy(): Promise<TrainablePolicy & { close?(): Promise<void> }>;
  /** By reference or name. */
  trainers: ReadonlyMap<string, Trainer>;
  /** Options of the step, as far as a trainer has them. */
  options: Readonly<Record<string, unknown>>;
  seed: number;
  signal?: AbortSignal | undefined;
  onTrainer?(name: string, done: number, total: number): void;
}

/** What a trainer has made of the first step. */
export interface TrainerShare {
  trainer: string;
  episodes: number;
  /** Mean of the episodes. */
  reward: number;
  /** Tokens that the policy has sampled. */
  sampledTokens: number;
  learnedEpisodes: number;
  /** Sampled tokens that have a gradient. */
  learnedTokens: number;
  /** Why it learns from fewer, a sentence each. */
  notes: string[];
  /** What must not be, a sentence each: other episodes than the first trainer's, and tokens that are not the policy's own. */
  differences: string[];
}

/** Whether a trainer improves weights by the tokens of episodes, so that it can be compared. */
export function playsToLearn({ learnsFrom, improves }: Pick<Trainer, 'learnsFrom' | 'improves'>): boolean {
  return (learnsFrom ?? 'episodes') === 'episodes' && improves !== 'prompts';
}

/** Differences of a kind that are named. */
const mostNamed = 3;

/**
 * Weights never change, so that each trainer sees the same policy.
 * @throws ToolEnvError `usage.bad_trainer` for a trainer that does not play to learn, and `usage.*` of a trainer itself, for options that it needs.
 */
export async function compareTrainers({
  env,
  openPolicy,
  trainers,
  options,
  seed,
  signal,
  onTrainer,
}: CompareTrainersOptions): Promise<TrainerShare[]> {
  for (const [name, trainer] of trainers) {
    if (playsToLearn(trainer)) continue;
    const message = `${name} does not learn from the tokens of episodes: it cannot be compared.`;
    throw new ToolEnvError('usage.bad_trainer', message);
  }
  const shares: TrainerShare[] = [];
  let first: readonly Trajectory[] | undefined;
  for (const [name, trainer] of trainers) {
    onTrainer?.(name, shares.length, trainers.size);
    const out = await mkdtemp(join(tmpdir(), 'toolenv-compare-'));
    const policy = await openPolicy();
    try {
      const learner = new SpyLearner(policy.learner);
      const run = { env, policy, learner, out, seed, ...(signal && { signal }) };
      const played = await firstStep(trainer.train(run, { ...acceptedOptions(trainer, options), steps: 1 }));
      first ??= played;
      shares.push(shareOf(name, played, learner.rows, first));
    } finally {
      await policy.close?.();
      await rm(out, { recursive: true, force: true });
    }
  }
  return shares;
}

async function firstStep(events: ReturnType<Trainer['train']>): Promise<Trajectory[]> {
  const played: Trajectory[] = [];
  for await (const event of events) if (event.type === 'rollout') played.push(...event.trajectories);
  return played;
}

function shareOf(
  trainer: string,
  played: readonly Trajectory[],
  learned: readonly LearnedRow[],
  first: readonly Trajectory[],
): TrainerShare {
  /** Two episodes may have the same tokens. */
  const rows = new Map<string, { mask: Uint8Array; of: Trajectory[] }>();
  let sampledTokens = 0;
  for (const trajectory of played) {
    for (const { tokens, mask } of toTrainingRows(trajectory)) {
      sampledTokens += mask.reduce((sum, bit) => sum + bit, 0);
      const same = rows.get(tokens.join());
      rows.set(tokens.join(), { mask, of: [...(same?.of ?? []), trajectory] });
    }
  }
  const learnedPlaces = new Map<string, Set<number>>();
  const foreign: string[] = [];
  for (const { tokens, mask, weights } of learned) {
    const key = tokens.join();
    const row = rows.get(key);
    if (!row) {
      foreign.push(`learns from ${tokens.length} tokens that are no episode's.`);
      continue;
    }
    const at = [...weights.keys()].filter((place) => mask[place] === 1 && weights[place] !== 0);
    const wrong = at.find((place) => row.mask[place] !== 1);
    if (wrong !== undefined)
      foreign.push(`learns token ${wrong} of ${episodeName(row.of[0]!)}, which the policy has not written.`);
    if (at.length > 0) learnedPlaces.set(key, new Set([...(learnedPlaces.get(key) ?? []), ...at]));
  }
  const learnedRows = [...learnedPlaces].map(([key, places]) => ({ of: rows.get(key)!.of, places }));
  const episodes = new Set(learnedRows.flatMap(({ of }) => of));
  return {
    trainer,
    episodes: played.length,
    reward: played.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / played.length,
    sampledTokens,
    learnedEpisodes: episodes.size,
    learnedTokens: learnedRows.reduce((sum, { of, places }) => sum + of.length * places.size, 0),
    notes: notesOn(played, episodes),
    differences: [...differencesOf(played, first), ...named(foreign)],
  };
}

function episodeName({ group, sample }: Pick<Trajectory, 'group' | 'sample'>): string {
  return `episode ${sample} of task ${group}`;
}

/** Why episodes were left out. */
function notesOn(played: readonly Trajectory[], learned: ReadonlySet<Trajectory>): string[] {
  const left = played.filter((trajectory) => !learned.has(trajectory));
  const aborted = left.filter(({ outcome }) => outcome.kind === 'aborted').length;
  const alike = left.filter(
    ({ group, reward, outcome }) =>
      outcome.kind !== 'aborted' &&
      played.every((other) => other.group !== group || other.reward === null || other.reward === reward),
  ).length;
  const others = left.length - aborted - alike;
  const episodes = (count: number) => `${count} ${count === 1 ? 'episode' : 'episodes'}`;
  return [
    ...(aborted > 0 ? [`aborted: ${episodes(aborted)}.`] : []),
    ...(alike > 0 ? [`left out, with the reward of all others of their task: ${episodes(alike)}.`] : []),
    ...(others > 0 ? [`left out for another reason: ${episodes(others)}.`] : []),
  ];
}

/** Episodes that are not those of the first trainer. */
function differencesOf(played: readonly Trajectory[], first: readonly Trajectory[]): string[] {
  if (played === first) return [];
  const key = ({ group, sample }: Trajectory) => `${group} ${sample}`;
  const before = new Map(first.map((trajectory) => [key(trajectory), trajectory]));
  const found = played.flatMap((one) => {
    const other = before.get(key(one));
    const name = episodeName(one);
    if (!other) return [`plays ${name}, which the first trainer does not.`];
    if (JSON.stringify(one.task) !== JSON.stringify(other.task)) return [`plays another task in ${name}.`];
    const turn = one.steps.findIndex(({ action }, index) => {
      const [own, theirs] = [action, other.steps[index]?.action].map((each) => each?.tokens?.action.join());
      return own !== theirs;
    });
    if (turn !== -1) return [`samples other tokens in turn ${turn + 1} of ${name}.`];
    if (one.reward !== other.reward)
      return [`has the reward ${one.reward} and not ${other.reward} in ${name}.`];
    return [];
  });
  const missing = first.length - played.length;
  return [...named(found), ...(missing > 0 ? [`plays ${missing} fewer episodes.`] : [])];
}

function named(found: readonly string[]): string[] {
  const more = found.length - mostNamed;
  return more > 0 ? [...found.slice(0, mostNamed), `… and ${more} more of this kind.`] : [...found];
}
