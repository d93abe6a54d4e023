/** JudgePolicy: asks a policy for verdicts, bounded in parallel and in number. */
import { setMaxListeners } from 'node:events';
import type { Action, ModelUsage } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import { openPolicy, type PolicyHandle, type PolicySource } from '@toolenv/core/plugins';
import { untilAborted, withinDeadline } from '@toolenv/core/tools';
import pLimit, { type LimitFunction } from 'p-limit';
import { askedAgain, askedQuestion, hash, type Question } from './question.ts';
import { readVerdict, type Verdict } from './read-verdict.ts';
import { scaleMistake } from './scale.ts';
import { VerdictCache } from './verdict-cache.ts';

/** How a judge is asked. */
export interface JudgeSettings {
  /** The policy that judges, or its name: `openai:<url>#<model>`, a reference, or a folder. */
  model?: PolicySource | undefined;
  /** Most requests of this process, repeated questions included. Default: no limit. */
  calls?: number | undefined;
  /** File that keeps the verdicts, for resumed runs, other processes and later runs. Default: memory. */
  cache?: string | undefined;
  /** Requests at a time. Default 16. */
  concurrency?: number | undefined;
  /** Most tokens of a reply. Default 1,024. */
  maxTokens?: number | undefined;
  /** Sampling temperature. Default 0. */
  temperature?: number | undefined;
  /** Milliseconds that one reply may take. Default 120,000. */
  timeout?: number | undefined;
}

/** A verdict, and what it has cost. */
export interface GivenVerdict extends Verdict {
  /** What the judge has used since the verdict before it. Absent if nothing. */
  usage?: ModelUsage;
}

export class JudgePolicy {
  readonly #policy: PolicyHandle;
  readonly #settings: JudgeSettings;
  readonly #cache: VerdictCache;
  readonly #limit: LimitFunction;
  readonly #closing: AbortController = new AbortController();
  /** Questions that are being asked. */
  readonly #asking: Map<string, Promise<Verdict>> = new Map();
  #calls = 0;
  #tokens: ModelUsage = { requests: 0, inputTokens: 0, outputTokens: 0 };
  #reported: ModelUsage;

  private constructor(policy: PolicyHandle, settings: JudgeSettings) {
    this.#policy = policy;
    this.#settings = settings;
    // Opening may have asked the server what it can do.
    this.#reported = policy.usage ?? this.#tokens;
    this.#cache = new VerdictCache(settings.cache);
    this.#limit = pLimit(settings.concurrency ?? 16);
    // Each request listens.
    setMaxListeners(0, this.#closing.signal);
  }

  /** @throws ToolEnvError `usage.no_judge` without a model, and what opening the policy throws. */
  static async open(settings: JudgeSettings, signal?: AbortSignal): Promise<JudgePolicy> {
    const { model, timeout: deadline = 120_000 } = settings;
    if (model === undefined || model === '') {
      const remedy = 'name the policy that judges, such as openai:http://127.0.0.1:8000/v1#qwen3';
      throw new ToolEnvError(
        'usage.no_judge',
        `There is no judge: ${remedy}, with --judge or with the option model.`,
      );
    }
    return new JudgePolicy(await openPolicy(model, { seed: 1, signal, deadline }), settings);
  }

  /**
   * The verdicts on a question. Equal questions get equal verdicts. A reply that is not exactly as asked is asked for once more.
   * @throws ToolEnvError `infrastructure.judge_verdict` if both replies are not as asked, `infrastructure.judge_timeout`,
   *   `infrastructure.judge_budget`, and what the policy throws; the signal's reason.
   */
  async ask(question: Question, signal?: AbortSignal): Promise<GivenVerdict> {
    const wrong = scaleMistake(question.scale);
    if (wrong) throw new ToolEnvError('bug.judge', wrong);
    signal?.throwIfAborted();
    const { maxTokens, temperature } = this.#settings;
    const key = hash(JSON.stringify([this.#policy.spec.name, maxTokens, temperature, question]));
    let asking = this.#asking.get(key);
    if (!asking) {
      // Whoever else asks the same must not depend on the signal of the first.
      asking = this.#find(key, question).finally(() => this.#asking.delete(key));
      asking.catch(() => {});
      this.#asking.set(key, asking);
    }
    const shared = asking;
    const verdict = await untilAborted(signal, () => shared);
    const usage = this.#takeUsage();
    return { ...verdict, ...(usage && { usage }) };
  }

  async close(): Promise<void> {
    this.#closing.abort(new ToolEnvError('infrastructure.judge_closed', 'The judge was closed.'));
    await Promise.allSettled(this.#asking.values());
    await this.#policy.close?.();
  }

  async #find(key: string, question: Question): Promise<Verdict> {
    return (await this.#cache.get(key)) ?? this.#cache.put(key, await this.#askStrictly(key, question));
  }

  async #askStrictly(key: string, question: Question): Promise<Verdict> {
    const asked = askedQuestion(question);
    let problem = '';
    for (const messages of [asked.messages, askedAgain(asked)]) {
      const action = await this.#limit(() => this.#act(key, messages));
      const read = readVerdict(action, asked, question.scale);
      if (!('problem' in read)) return read;
      problem = read.problem;
    }
    const remedy = 'choose a judge that follows instructions, or give it more maxTokens';
    const message = `The judge ${this.#policy.spec.name} gave no verdict, asked twice: ${problem}. If it often happens, ${remedy}.`;
    throw new ToolEnvError('infrastructure.judge_verdict', message);
  }

  async #act(key: string, messages: ReturnType<typeof askedAgain>): Promise<Action> {
    const {
      calls = Number.POSITIVE_INFINITY,
      maxTokens = 1024,
      temperature = 0,
      timeout = 120_000,
    } = this.#settings;
    const closing = this.#closing.signal;
    closing.throwIfAborted();
    if (this.#calls >= calls) {
      const remedy =
        'raise its calls (--judge-calls), and keep its verdicts in a file (--judge-cache) to pay for each once';
      throw new ToolEnvError(
        'infrastructure.judge_budget',
        `The judge has been asked its ${calls} times: ${remedy}.`,
      );
    }
    this.#calls += 1;
    const episodeId = `judge-${this.#calls}`;
    const reason = () => {
      const message = `The judge ${this.#policy.spec.name} did not answer within ${timeout / 1000} s: raise its timeout, or lower its concurrency.`;
      return new ToolEnvError('infrastructure.judge_timeout', message);
    };
    const controller = new AbortController();
    try {
      const action = await withinDeadline({ after: timeout, parent: closing, reason }, () =>
        this.#policy.act(
          { messages, tools: [] },
          {
            maxTokens,
            temperature,
            seed: Number.parseInt(key.slice(0, 7), 16),
            episodeId,
            signal: controller.signal,
          },
        ),
      );
      this.#count(action);
      return action;
    } finally {
      controller.abort();
      await this.#policy.endEpisode?.(episodeId);
    }
  }

  /** Counts what a policy that does not count for itself shows of a reply. */
  #count({ tokens }: Action): void {
    const { requests, inputTokens, outputTokens } = this.#tokens;
    this.#tokens = {
      requests: requests + 1,
      inputTokens: inputTokens + (tokens?.prompt.length ?? 0),
      outputTokens: outputTokens + (tokens?.action.length ?? 0),
    };
  }

  /** What was used since it was last taken. The sum is exact; of verdicts at one time, which has it depends on their order. */
  #takeUsage(): ModelUsage | undefined {
    const { requests, inputTokens, outputTokens } = this.#policy.usage ?? this.#tokens;
    const before = this.#reported;
    this.#reported = { requests, inputTokens, outputTokens };
    const since = {
      requests: requests - before.requests,
      inputTokens: inputTokens - before.inputTokens,
      outputTokens: outputTokens - before.outputTokens,
    };
    return Object.values(since).some((count) => count > 0) ? since : undefined;
  }
}
