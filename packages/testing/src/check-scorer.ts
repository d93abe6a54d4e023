/** checkScorer: checks a scorer of groups against the SCR rules of the spec. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, playTask, rewardTolerance, type Trajectory } from '@toolenv/core';
import { completeOptions, type OpenScorer, type ScoredEpisode, type Scorer } from '@toolenv/core/plugins';
import { answered, withTimeout } from './in-time.ts';
import { expectNoLeaks } from './leaks.ts';
import { type CheckOptions, type Report, Reporter } from './report.ts';
import { brief, Violation } from './violation.ts';

export interface CheckScorerOptions extends CheckOptions {
  /** The scorer's own options. Default: those of its example. */
  options?: Record<string, unknown>;
  /** Groups to score. Default: some answers to a question, and a group of one episode. */
  groups?: readonly (readonly Trajectory[])[];
  /** Default 1. */
  seed?: number;
  /** Milliseconds that a group may take at most. Default 60,000. */
  timeout?: number;
}

/** Milliseconds in which scoring must settle once its signal aborts. */
const grace = 1000;

/** Opens the scorer several times, lets it score groups, and reports the rules that it breaks. */
export async function checkScorer(scorer: Scorer<never>, options: CheckScorerOptions = {}): Promise<Report> {
  const { groups = await answeredGroups(), seed = 1, timeout = 60_000 } = options;
  const report = new Reporter(`scorer "${scorer.name}"`, 'SCR', options);
  const chosen = { ...scorer.example?.options, ...options.options };
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-scorer-'));
  const begin = () =>
    answered('SCR-1', 'an open scorer', timeout, async () => {
      const complete = completeOptions(scorer.options, chosen, scorer.name);
      return scorer.begin({ folder, seed }, complete as never);
    });
  const score = async (open: OpenScorer, group: readonly Trajectory[]) => {
    const what = `scores of ${group.length} episodes`;
    return answered('SCR-2', what, timeout, async () => open.score(group, {}));
  };
  try {
    const first: (readonly ScoredEpisode[])[] = [];
    await report.check(['SCR-1', 'SCR-2', 'SCR-4'], async () => {
      await using open = disposable(await begin());
      for (const group of groups) {
        const given = structuredClone(group);
        const scores = await score(open.scorer, given);
        checkScores(scorer, scores, group.length);
        if (JSON.stringify(given) !== JSON.stringify(group))
          throw new Violation('SCR-4', 'trajectories left as they were', brief(given));
        first.push(scores);
      }
    });
    if (!report.report.ok) return report.report;
    await report.check(['SCR-3'], async () => {
      const values = (all: readonly (readonly ScoredEpisode[])[]) =>
        JSON.stringify(all.map((each) => each.map(({ value }) => value)));
      await using open = disposable(await begin());
      const again = await Promise.all(groups.map((group) => score(open.scorer, structuredClone(group))));
      if (values(again) === values(first)) return;
      throw new Violation(
        'SCR-3',
        `the same scores in another run of the folder: ${values(first)}`,
        values(again),
      );
    });
    await report.check(['SCR-5'], async () => {
      await using open = disposable(await begin());
      const signal = AbortSignal.abort(new Error('cancelled by the check'));
      const scoring = (async () => open.scorer.score(groups[0]!, { signal }))().then(brief, brief);
      await withTimeout('SCR-5', 'scoring to settle when its signal has aborted', grace, () => scoring);
    });
    const scoreOnce = async () => {
      await using open = disposable(await begin());
      await score(open.scorer, groups[0]!);
    };
    await report.check(['SCR-6'], () => expectNoLeaks('SCR-6', 'after close()', scoreOnce));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report.report;
}

function disposable(scorer: OpenScorer): AsyncDisposable & { scorer: OpenScorer } {
  return { scorer, [Symbol.asyncDispose]: async () => scorer.close?.() };
}

function checkScores({ range = [0, 1] }: Scorer<never>, scores: unknown, count: number): void {
  if (!Array.isArray(scores) || scores.length !== count)
    throw new Violation('SCR-2', `an array of ${count} scores`, brief(scores));
  const [low, high] = range;
  for (const score of scores) {
    const { value, text } = Object(score) as Partial<ScoredEpisode>;
    const isInRange =
      typeof value === 'number' && value >= low - rewardTolerance && value <= high + rewardTolerance;
    if (!isInRange && value !== null)
      throw new Violation('SCR-2', `a value from ${low} to ${high}, or null`, brief(value));
    if (text !== undefined && typeof text !== 'string')
      throw new Violation('SCR-2', 'a text, or none', brief(text));
  }
}

/** Answers to a question, right and wrong, two of them equal; and one answer alone. */
async function answeredGroups(): Promise<Trajectory[][]> {
  const capitals = defineToolEnv({
    name: 'capitals-v1',
    description: 'Name the capital.',
    tasks: { train: [{}] },
    rewards: { right: { kind: 'outcome', score: ({ answer }) => Number(answer === 'Paris') } },
    episode: () => ({ messages: 'What is the capital of France?' }),
  });
  const answers = [['Paris', 'It is Lyon, I think.', 'Paris', ''], ['Rome']];
  return Promise.all(
    answers.map((group, number) =>
      Promise.all(
        group.map(async (answer, sample) => {
          const played = await playTask(capitals, {}, [answer]);
          return { ...played, group: number, sample, index: sample };
        }),
      ),
    ),
  );
}
