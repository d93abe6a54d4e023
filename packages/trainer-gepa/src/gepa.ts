/**
 * GEPA (arXiv 2507.19457): reflective evolution of the open texts of an environment, with a policy that stays as it is. The algorithm is
 * in this file; `reflection.ts` asks for a better text and reads the answer.
 */
import {
  createRng,
  deriveSeed,
  drawInEpochs,
  type EnvHandle,
  type JsonSchema,
  type Prompts,
  type Rng,
  replacePrompts,
  type TaskSet,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import type { Metrics, PolicySource } from '@toolenv/core/plugins';
import { withPrompts } from '@toolenv/core/wrappers';
import {
  AbortWatch,
  type AlgorithmContext,
  type CheckpointPart,
  defineTrainer,
  outcomeScore,
  type PromptAlgorithm,
  type PromptTrainer,
  playEpisodes,
  type RunOptions,
} from '@toolenv/training';
import { bestScore } from './best-score.ts';
import { type GepaOptions, gepaOptions } from './gepa-options.ts';
import { type Candidate, readState } from './read-state.ts';
import { openReflection, type Reflection } from './reflection.ts';

/** What a step has found. */
interface Found {
  candidate?: Candidate;
  /** Mean difference that the new text made on the minibatch. */
  gain?: number;
  reflection?: 'used' | 'refused';
}

/** GEPA whose reflection policy is given as an object. Its option `reflection` is then without effect. */
export function gepaWith(reflection: PolicySource | undefined): PromptTrainer<GepaOptions & RunOptions> {
  return defineTrainer<JsonSchema, GepaOptions>({
    name: 'gepa',
    description: 'Improves the texts of an environment by reflection on episodes (GEPA, arXiv 2507.19457)',
    improves: 'prompts',
    options: { properties: gepaOptions },
    // As many as the budgets allow. Each step costs a request, so that none is lost.
    defaults: { steps: 0, checkpointEvery: 1 },
    minimums: { steps: 0 },
    create: (context) => Evolution.begin(context, reflection),
  }) as PromptTrainer<GepaOptions & RunOptions>;
}

export const gepa: PromptTrainer<GepaOptions & RunOptions> = gepaWith(undefined);
export default gepa;

class Evolution implements PromptAlgorithm {
  readonly #context: AlgorithmContext<GepaOptions>;
  readonly #env: EnvHandle<unknown>;
  readonly #reflection: Reflection;
  readonly #names: readonly string[];
  /** Indices of training tasks: those that compare candidates, and those that minibatches are drawn from. */
  readonly #pareto: readonly number[];
  readonly #feedback: readonly number[];
  readonly #best: number;
  readonly #watch: AbortWatch;
  #candidates: Candidate[] = [];
  #episodes = 0;
  #reflections = 0;

  private constructor(
    context: AlgorithmContext<GepaOptions>,
    env: EnvHandle<unknown>,
    { names, length, reflection }: { names: readonly string[]; length: number; reflection: Reflection },
  ) {
    const { options, run } = context;
    this.#context = context;
    this.#env = env;
    this.#names = names;
    this.#reflection = reflection;
    const seed = deriveSeed(run.seed, 'pareto tasks');
    const all = drawInEpochs(length, { step: 0, attempt: 0, first: 0, count: length, seed });
    this.#pareto = all.slice(0, options.paretoTasks);
    const others = all.slice(options.paretoTasks);
    // With few tasks, both purposes share them.
    this.#feedback = others.length >= options.minibatch ? others : all;
    this.#best = bestScore(env.episode().spec.rewards, options.judgedBy);
    this.#watch = new AbortWatch(options.maxAborted);
  }

  static async begin(
    context: AlgorithmContext<GepaOptions>,
    reflection: PolicySource | undefined,
  ): Promise<Evolution> {
    const { options, run } = context;
    const env = run.env!;
    const names = improvedTexts(env, options.texts);
    const length = await env.tasks.train.length;
    const start = Math.min(options.paretoTasks, length);
    refuseBudget(options, start);
    const opened = await openReflection(run, options, reflection);
    return new Evolution(context, env, { names, length, reflection: opened });
  }

  /** Step 1 scores the texts as they are. Every other step is an iteration of the evolution. */
  async play({ step, seed }: { step: number; seed: number }): ReturnType<PromptAlgorithm['play']> {
    const { run } = this.#context;
    const played: Trajectory[] = [];
    const found = await this.#found(step, seed, (part, prompts, tasks) => {
      // Candidates play the Pareto tasks, and texts before and after a reflection a minibatch, with equal seeds.
      const equal = part === 'pareto' ? deriveSeed(run.seed, 'pareto') : deriveSeed(seed, 'minibatch');
      return this.#playAll(played, { prompts, tasks, seed: equal, step, part });
    });
    return { trajectories: played, learn: () => this.#learn(found, played.length) };
  }

  async #found(step: number, seed: number, play: PlayTasks): Promise<Found> {
    if (this.#candidates.length === 0) {
      const prompts = { ...this.#env.prompts };
      const scores = this.#scoresOf(await play('pareto', prompts, this.#pareto));
      return { candidate: { prompts, parent: null, scores } };
    }
    const parent = chooseParent(this.#candidates, createRng(seed, 'parent'));
    const { prompts } = this.#candidates[parent]!;
    const minibatch = this.#minibatch(step);

    const before = await play('before', prompts, minibatch);
    const scoresBefore = this.#scoresOf(before);
    // There is nothing to correct, or nothing to see.
    if (scoresBefore.every((score) => score === null || score >= this.#best)) return {};

    const name = this.#names[step % this.#names.length]!;
    const shown = before.flatMap((episode, n) =>
      scoresBefore[n] === null ? [] : [{ episode, score: scoresBefore[n]! }],
    );
    const answer = await this.#reflection.ask({ step, seed, name, prompts, best: this.#best, shown });
    if ('refused' in answer) return { reflection: 'refused' };

    const changed = { ...prompts, [name]: answer.text };
    const after = this.#scoresOf(await play('after', changed, minibatch));
    const gain = meanGain(scoresBefore, after);
    if (!(gain > 0)) return { reflection: 'used', gain };

    const scores = this.#scoresOf(await play('pareto', changed, this.#pareto));
    return { reflection: 'used', gain, candidate: { prompts: changed, parent, scores } };
  }

  #learn({ candidate, gain, reflection }: Found, episodes: number): Metrics {
    this.#episodes += episodes;
    if (reflection) this.#reflections += 1;
    if (candidate) this.#candidates.push(candidate);
    const best = meanOf(this.#candidates[bestOf(this.#candidates)]!.scores);
    return {
      ...(Number.isFinite(best) && { 'prompts/best': best }),
      'prompts/candidates': this.#candidates.length,
      'prompts/accepted': Number(candidate !== undefined),
      ...(gain !== undefined && Number.isFinite(gain) && { 'prompts/gain': gain }),
      'prompts/refused': Number(reflection === 'refused'),
      'prompts/episodes': this.#episodes,
      'prompts/reflections': this.#reflections,
    };
  }

  get prompts(): Prompts {
    const best = this.#candidates[bestOf(this.#candidates)];
    return best?.prompts ?? { ...this.#env.prompts };
  }

  /** A step begins only if the budgets allow a whole one. */
  get isOver(): boolean {
    const { episodes, reflections, minibatch } = this.#context.options;
    const whole = this.#candidates.length === 0 ? 0 : 2 * minibatch;
    return this.#episodes + whole + this.#pareto.length > episodes || this.#reflections >= reflections;
  }

  /** A minibatch whose episodes are all perfect is the cheapest step. */
  get steps(): number {
    const { steps, episodes, minibatch } = this.#context.options;
    const most = 1 + Math.floor((episodes - this.#pareto.length) / minibatch);
    return steps > 0 ? Math.min(steps, most) : most;
  }

  readonly state: CheckpointPart = {
    file: 'candidates.json',
    write: () => {
      const [episodes, reflections, candidates] = [this.#episodes, this.#reflections, this.#candidates];
      return `${JSON.stringify({ version: 1, episodes, reflections, candidates }, null, 2)}\n`;
    },
    read: (text) => {
      const { episodes, reflections, candidates } = readState(text, this.#pareto.length);
      [this.#episodes, this.#reflections, this.#candidates] = [episodes, reflections, candidates];
    },
  };

  close(): Promise<void> {
    return this.#reflection.close();
  }

  /** Each feedback task comes once before any comes again. Step 1 has no minibatch. */
  #minibatch(step: number): number[] {
    const { run, options } = this.#context;
    const { length } = this.#feedback;
    const count = Math.min(options.minibatch, length);
    const seed = deriveSeed(run.seed, 'minibatches');
    const places = drawInEpochs(length, { step, attempt: 0, first: (step - 1) * count, count, seed });
    return places.map((place) => this.#feedback[place]!);
  }

  /** Plays an episode of each task, and adds them to the episodes of the step: those of one task are a group. */
  async #playAll(
    all: Trajectory[],
    { prompts, tasks, seed, step, part }: Part & { prompts: Prompts; tasks: readonly number[]; seed: number },
  ): Promise<Trajectory[]> {
    const { run, options } = this.#context;
    const { train }: { train: TaskSet<unknown> } = this.#env.tasks;
    const ended = await playEpisodes(run, options, {
      env: withPrompts(this.#env, prompts),
      episodes: tasks.map((task, group) => ({ task: train.get(task), group, sample: 0 })),
      seed,
      watch: this.#watch,
      // A retry would be an episode beyond the budget.
      retries: 0,
    });
    const first = part === 'pareto' ? options.minibatch : 0;
    for (const [n, trajectory] of ended.entries()) {
      const place = { index: all.length, group: first + n, sample: part === 'after' ? 1 : 0 };
      all.push({ ...trajectory, ...place, episodeId: `${step + 1}-${part}-${n}` });
    }
    return all.slice(all.length - ended.length);
  }

  #scoresOf(episodes: readonly Trajectory[]): (number | null)[] {
    return episodes.map((episode) => outcomeScore(episode, this.#context.options.judgedBy));
  }
}

interface Part {
  step: number;
  part: 'pareto' | 'before' | 'after';
}

type PlayTasks = (part: Part['part'], prompts: Prompts, tasks: readonly number[]) => Promise<Trajectory[]>;

/** Draws a candidate of the Pareto front: the oftener, the more tasks it is best on (algorithm 2 of the paper). */
function chooseParent(candidates: readonly Candidate[], rng: Rng): number {
  const front = paretoFront(candidates.map(({ scores }) => scores));
  const chances = [...front].flatMap(([candidate, tasks]) => Array<number>(tasks).fill(candidate));
  // Without a single score, the texts as they are.
  return chances.length > 0 ? rng.pick(chances) : 0;
}

/**
 * The candidates that are best on a task, without those that are dominated: on each task where such a candidate is best, another that is
 * left is best too. The weakest are left out first, and of equals the oldest.
 * @param scores [candidate][task]
 * @returns Candidate → on how many tasks it is best.
 */
export function paretoFront(scores: readonly (readonly (number | null)[])[]): Map<number, number> {
  const tasks = scores[0]?.keys() ?? [];
  const winners = [...tasks].map((task) => {
    const known = scores.map((own) => own[task] ?? Number.NEGATIVE_INFINITY);
    const best = Math.max(...known);
    return new Set(
      best > Number.NEGATIVE_INFINITY ? known.flatMap((own, n) => (own === best ? [n] : [])) : [],
    );
  });
  const left = new Set(winners.flatMap((own) => [...own]));
  const weakestFirst = [...left].sort((a, b) => meanOf(scores[a]!) - meanOf(scores[b]!) || a - b);
  for (const candidate of weakestFirst) {
    const own = winners.filter((each) => each.has(candidate));
    if (own.every((each) => [...each].some((other) => other !== candidate && left.has(other))))
      left.delete(candidate);
  }
  const wins = (candidate: number) => winners.filter((each) => each.has(candidate)).length;
  return new Map([...left].sort((a, b) => a - b).map((candidate) => [candidate, wins(candidate)]));
}

/** The candidate with the highest mean; of equals the newest, which has also gained on its minibatch. */
function bestOf(candidates: readonly Candidate[]): number {
  const means = candidates.map(({ scores }) => meanOf(scores));
  return means.lastIndexOf(Math.max(...means));
}

/** The mean of what was scored; −∞ if nothing was. */
function meanOf(scores: readonly (number | null)[]): number {
  const known = scores.filter((score) => score !== null);
  return known.length === 0
    ? Number.NEGATIVE_INFINITY
    : known.reduce((sum, score) => sum + score, 0) / known.length;
}

/** Over the tasks that were scored both times; 0 if there are none. */
function meanGain(before: readonly (number | null)[], after: readonly (number | null)[]): number {
  const gains = before.flatMap((score, n) => {
    const now = after[n] ?? null;
    return score === null || now === null ? [] : [now - score];
  });
  return gains.length === 0 ? 0 : meanOf(gains);
}

/** @throws ToolEnvError `usage.no_prompts` without an open text, `usage.unknown_prompt` for a text that is not declared. */
function improvedTexts(env: EnvHandle<unknown>, chosen?: readonly string[]): string[] {
  const owner = env.ref ?? env.episode().spec.name;
  const { prompts = {} } = env;
  const names = Object.keys(prompts);
  if (names.length === 0) {
    const message = `gepa improves open texts, and ${owner} declares none: add prompts: { system: '…' } to its definition, and use context.prompt('system').`;
    throw new ToolEnvError('usage.no_prompts', message);
  }
  if (chosen) replacePrompts(prompts, Object.fromEntries(chosen.map((name) => [name, ''])), owner);
  return chosen ? [...chosen] : names;
}

/** @throws ToolEnvError `usage.bad_option` for a budget without room for an iteration, `usage.run` without tasks. */
function refuseBudget({ episodes, minibatch }: GepaOptions, pareto: number): void {
  if (pareto === 0)
    throw new ToolEnvError('usage.run', 'gepa: the environment has no training tasks: give one that has.');
  const least = 2 * pareto + 2 * minibatch;
  if (episodes >= least) return;
  const message = `gepa: option "episodes": the first comparison needs ${least}: ${pareto} for the texts as they are, twice ${minibatch} for a minibatch and ${pareto} for a new text. Give more episodes, or fewer paretoTasks.`;
  throw new ToolEnvError('usage.bad_option', message);
}
