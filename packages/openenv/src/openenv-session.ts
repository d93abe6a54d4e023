/** OpenEnvSession: one client's episodes, as OpenEnv's observations, states and errors. */
import { isDeepStrictEqual } from 'node:util';
import {
  isInfrastructure,
  type Observation,
  type ScoredTransition,
  type ToolCallRecord,
  type ToolDescription,
} from '@toolenv/core';
import { answerToolNamed, ClientSession, endText, newMessages, type ServedEpisode } from '@toolenv/serving';
import { answerName, type OpenEnvAction, readAction } from './action.ts';
import { FrameError, type StepResult } from './frame.ts';

const answerTool = answerToolNamed(answerName);

export class OpenEnvSession extends ClientSession {
  #handedOut: ServedEpisode | undefined;
  /** The last reset failed. A step then must not begin an episode that nobody asked for. */
  #resetFailed = false;
  /** Sum of the rewards of the episode so far; `null` if none was scored. */
  #reward: number | null = null;

  reset(data: Record<string, unknown>): Promise<StepResult> {
    return this.#run(async (signal) => {
      const { current } = this.episodes;
      const taskCount = await this.episodes.taskCount;
      const { seed, task, episodeId } = readReset(data, taskCount);
      const asksNothing = seed === undefined && task === undefined && episodeId === undefined;
      // Listing the tools may have begun an episode that has not been played yet.
      const isFresh = current !== undefined && current !== this.#handedOut && current.steps === 0;
      const wanted = { seed, task: task ?? (seed === undefined ? undefined : seed % taskCount), episodeId };
      const episode = asksNothing && isFresh ? current : await this.#begin(wanted, signal);
      this.#handedOut = episode;
      const metadata = { task: episode.task, seed: episode.seed };
      return toResult({ messages: episode.observation.messages, ...metadata }, metadata);
    });
  }

  step(data: Record<string, unknown>): Promise<StepResult> {
    return this.#run(async (signal) => {
      const asked = readAction(data, this.episodes.current?.steps ?? 0);
      if (asked.type === 'list_tools') {
        const listed = await this.#listTools(signal);
        const tools = listed.map(({ inputSchema: input_schema, ...tool }) => ({ ...tool, input_schema }));
        return toResult({ tools }, {});
      }
      const episode = await this.#current(signal);
      const { outcome } = episode;
      if (outcome.kind === 'aborted' || outcome.kind === 'cancelled') {
        throw new FrameError('EXECUTION_ERROR', `The episode is not scored (${outcome.kind}): reset.`);
      }
      if (outcome.kind !== 'running') {
        const text = `The episode has ended (${endText(outcome)}).`;
        const observation = { ...observe(asked, { text, isError: true }), messages: [] };
        return toResult(observation, { outcome, rewards: {} }, { done: true });
      }
      const before = episode.observation;
      return this.#played(asked, before, await this.play(asked.action, signal));
    });
  }

  listTools(): Promise<ToolDescription[]> {
    return this.#run((signal) => this.#listTools(signal));
  }

  state(): Promise<Record<string, unknown>> {
    return this.#run(async () => {
      const { current } = this.episodes;
      return {
        episode_id: current?.id ?? null,
        step_count: current?.steps ?? 0,
        ...(current && {
          task: current.task,
          seed: current.seed,
          reward: this.#reward,
          done: current.outcome.kind !== 'running',
        }),
      };
    });
  }

  async #run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    try {
      return await this.run(work);
    } catch (error) {
      throw this.#toFrame(error);
    }
  }

  async #begin(wanted: ReturnType<typeof readReset>, signal: AbortSignal): Promise<ServedEpisode> {
    this.#reward = null;
    this.#resetFailed = true;
    const episode = await this.begin(wanted, signal);
    this.#resetFailed = false;
    return episode;
  }

  /** The current episode. Begins one if the client never did. */
  async #current(signal: AbortSignal): Promise<ServedEpisode> {
    if (this.#resetFailed) throw new FrameError('EXECUTION_ERROR', 'The last reset failed: reset again.');
    return this.episodes.current ?? (await this.#begin({}, signal));
  }

  async #listTools(signal: AbortSignal): Promise<ToolDescription[]> {
    const { observation } = await this.#current(signal);
    this.episodes.refuseTool(answerName, observation.tools, 'usage.openenv_tool_name');
    const own = observation.tools.map(({ name, description, inputSchema }) => {
      return { name, description, inputSchema };
    });
    return [...own, answerTool];
  }

  /** The result of a turn, whose reward is counted. */
  #played(
    asked: Played,
    before: Observation,
    { observation, outcome, rewards, calls }: ScoredTransition,
  ): StepResult {
    const reward = this.episodes.rewardOf(rewards);
    if (reward !== null) this.#reward = (this.#reward ?? 0) + reward;
    const done = outcome.kind !== 'running';
    const [messages, isRewritten] = newMessages(before.messages, observation.messages);
    const metadata = {
      outcome,
      rewards,
      ...(isRewritten && { rewritten: true }),
      ...(!isDeepStrictEqual(before.tools, observation.tools) && { tools_changed: true }),
    };
    // An environment may reply to an answer and continue the episode.
    const reply = done ? `The episode has ended (${endText(outcome)}).` : (messages.at(-1)?.content ?? '');
    const said = asked.type === 'answer' ? { text: reply } : toSaid(calls[0]);
    return toResult({ ...observe(asked, said, calls), messages }, metadata, { reward, done });
  }

  /** The error as the client sees it. Messages stay on this side: they may name a secret or the answer of the task. */
  #toFrame(error: unknown): FrameError {
    if (error instanceof FrameError) return error;
    if (!this.hasLeft) this.hooks.onError(error);
    if (isInfrastructure(error)) {
      const { code } = error;
      const message = `The episode was aborted and is not scored (${code}): see the log of its server.`;
      return new FrameError('EXECUTION_ERROR', message, { errors: [{ type: code, retryable: true }] });
    }
    return new FrameError('EXECUTION_ERROR', 'The environment failed: see the log of its server.');
  }
}

/** A step result whose metadata is in the observation too, where some clients look for it. */
function toResult(
  observation: object,
  metadata: Record<string, unknown>,
  { reward = null, done = false }: Partial<Pick<StepResult, 'reward' | 'done'>> = {},
): StepResult {
  return { observation: { ...observation, metadata }, reward, done, metadata };
}

/** An action that is a step of the episode. */
type Played = Exclude<OpenEnvAction, { type: 'list_tools' }>;

/** What a policy reads after a call or an answer. */
interface Said {
  text: string;
  isError?: boolean;
  record?: ToolCallRecord;
}

function toSaid(record: ToolCallRecord | undefined): Said {
  if (!record) return { text: '' };
  return { text: record.text, isError: Boolean(record.mistake || record.result?.isError), record };
}

/** The observation of OpenEnv's CallToolAction, or of a turn. */
function observe(asked: Played, said: Said, calls: readonly ToolCallRecord[] = []): Record<string, unknown> {
  if (asked.type !== 'turn') {
    const name = asked.type === 'answer' ? answerName : asked.name;
    return { tool_name: name, result: toolResult(said), error: null };
  }
  const results = calls.map((record) => ({
    tool_name: 'name' in record.call ? record.call.name : '',
    result: toolResult(toSaid(record)),
  }));
  return { text: said.text, calls: results };
}

/** FastMCP's result as OpenEnv sends it. `data` is the text that a policy reads: OpenEnv's client returns it. */
function toolResult({ text, isError = false, record }: Said): object {
  const others = record?.result?.content.filter(({ type }) => type !== 'text') ?? [];
  return {
    content: [{ type: 'text', text }, ...others],
    structured_content: record?.result?.structuredContent ?? null,
    meta: null,
    data: text,
    is_error: isError,
  };
}

/** @throws FrameError for parameters that no environment here has, so that none is ignored. */
function readReset(
  data: Record<string, unknown>,
  taskCount: number,
): { seed?: number; task?: number; episodeId?: string } {
  const {
    seed,
    task,
    episode_id: episodeId,
    ...others
  } = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const name = unknown.slice(0, 100);
    throw new FrameError('VALIDATION_ERROR', `reset takes seed, task and episode_id, not "${name}".`);
  }
  if (seed !== undefined && !isCount(seed)) {
    throw new FrameError('VALIDATION_ERROR', 'seed must be an integer of at least 0.');
  }
  if (task !== undefined && !(isCount(task) && task < taskCount)) {
    throw new FrameError('VALIDATION_ERROR', `task must be an integer from 0 to ${taskCount - 1}.`);
  }
  if (episodeId !== undefined && (typeof episodeId !== 'string' || episodeId.length > 256)) {
    throw new FrameError('VALIDATION_ERROR', 'episode_id must be a text of at most 256 characters.');
  }
  return { seed, task, episodeId };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
