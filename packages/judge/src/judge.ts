/** judge: the score of a reward by a model. */
import { type EpisodeContext, type ScoreByTool, type Tool, ToolEnvError } from '@toolenv/core';
import type { PolicySource } from '@toolenv/core/plugins';
import { cutMiddle } from '@toolenv/core/recording';
import type { JudgeSettings } from './judge-policy.ts';
import type { JudgedText, JudgeResult } from './judge-v1.ts';
import { type Scale, scaleMistake } from './scale.ts';

/** Characters. Both are arguments of a call, whose size is bounded. */
const maxPromptLength = 20_000;
const maxTextLength = 40_000;

/** What a judge may know of an episode: `result` is what an agent returned. The types are those of the environment. */
export type JudgedEpisode<Task, State, Shared, Options, Result> = EpisodeContext<
  Task,
  State,
  Shared,
  Options
> & {
  readonly result?: Result | undefined;
};

/** How an author has an episode judged. */
export interface JudgeOptions<Context> extends Pick<JudgeSettings, 'maxTokens' | 'temperature' | 'timeout'> {
  /**
   * The policy that judges unless the user names another: `openai:<url>#<model>`, a reference, a folder, or a policy. Default: the user
   * has to name one.
   */
  model?: PolicySource;
  /** What to judge by. Put in only what you trust, such as the task: what the policy has written belongs into `judged`. */
  prompt: string | ((context: Context) => string);
  /**
   * The text to judge. `undefined`: there is nothing to judge, and the reward is not scored. The judge reads 40,000 characters: the middle of a
   * longer text is left out. Default: the answer.
   */
  judged?(context: Context): string | undefined;
  scale: Scale;
  /** Begins the names of the environment's options: `judge`, `judgeCalls` and others. Default `judge`. */
  role?: string;
}

/**
 * Scores a reward by the verdict of a model: `score: judge({ prompt: 'Is the answer polite?', scale: [0, 10] })`. A numeric verdict is
 * scaled to [0, 1]. The text to judge is fenced, so that it cannot instruct the judge. A verdict that is not exactly as asked is asked for
 * once more, and then aborts the episode.
 *
 * TypeScript takes the types of the episode from the environment around the call, except that of an agent's result: name it, as in
 * `judged: ({ result }: { result?: Pages | undefined }) => …`. Elsewhere, name the type of the task: `judge<Note>(…)`.
 *
 * The environment gets the options `judge`, `judgeCalls`, `judgeCache` and `judgeConcurrency`, which are flags on the command line.
 * @throws ToolEnvError `bug.judge` for a scale that cannot be.
 */
export function judge<Task = unknown, State = unknown, Shared = unknown, Options = unknown, Result = unknown>(
  options: JudgeOptions<JudgedEpisode<Task, State, Shared, Options, Result>>,
): ScoreByTool<JudgedEpisode<Task, State, Shared, Options, NoInfer<Result>>> {
  const { model, prompt, judged, scale, role = 'judge', maxTokens, temperature, timeout } = options;
  const wrong = scaleMistake(scale);
  if (wrong) throw new ToolEnvError('bug.judge', wrong);
  const score = async function (
    this: Tool,
    context: JudgedEpisode<Task, State, Shared, Options, Result>,
  ): Promise<number | null> {
    const text = judged ? judged(context) : context.answer;
    if (text === undefined) return null;
    const instructions = typeof prompt === 'string' ? prompt : prompt(context);
    if (instructions.length > maxPromptLength) {
      const message = `The prompt of the judge has ${instructions.length} characters: write at most ${maxPromptLength}.`;
      throw new ToolEnvError('bug.judge', message);
    }
    const asked: JudgedText = { instructions, judged: cutMiddle(text, maxTextLength), scale };
    const { result, text: said } = await context.call(this, { ...asked });
    const { score } = Object(result.structuredContent) as Partial<JudgeResult>;
    if (typeof score === 'number' && result.isError !== true) return score;
    throw new ToolEnvError(
      'infrastructure.judge_verdict',
      `The judge gave no verdict: ${said.slice(0, 200)}`,
    );
  };
  return Object.assign(score, {
    role,
    tool: '@toolenv/judge/judge-v1',
    options: {
      [role]: {
        type: 'string',
        minLength: 1,
        ...(typeof model === 'string' && { default: model }),
        description:
          'policy that judges: openai:<url>#<model>, a reference or a folder; ?<option>=<value> sets its options',
      },
      [`${role}Calls`]: {
        type: 'integer',
        minimum: 0,
        description: 'most requests to the judge; more abort their episodes (default: no limit)',
      },
      [`${role}Cache`]: {
        type: 'string',
        minLength: 1,
        description: 'file that keeps the verdicts, so that a resumed run gets the same (default: memory)',
      },
      [`${role}Concurrency`]: {
        type: 'integer',
        minimum: 1,
        default: 16,
        description: 'requests to the judge at a time',
      },
    },
    material: (given: Readonly<Record<string, unknown>>): JudgeSettings => ({
      model: (given[role] as string | undefined) ?? model,
      calls: given[`${role}Calls`] as number | undefined,
      cache: given[`${role}Cache`] as string | undefined,
      concurrency: given[`${role}Concurrency`] as number | undefined,
      maxTokens,
      temperature,
      timeout,
    }),
  });
}
