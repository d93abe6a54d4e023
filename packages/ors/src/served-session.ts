/** ServedSession: the episode of one client of ORS. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Action, isInfrastructure, type Observation, type ScoredTransition } from '@toolenv/core';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import {
  ClientSession,
  endText,
  newMessages,
  type ServedEnv,
  type SessionHooks,
  type SessionOptions,
} from '@toolenv/serving';
import { Problem } from './problem.ts';
import {
  answerNameOf,
  promptBlocks,
  resultBlocks,
  textBlock,
  wireMessages,
  wireTools,
} from './wire-blocks.ts';

/** Results that are kept for a client whose stream was cut. ORS's clients call one tool after another. */
const maxKept = 16;

/** A call whose result can be asked for again. */
export interface RunningCall {
  id: string;
  /** JSON of ORS's RunToolOutput. Rejects with a Problem if the environment or its machine has failed. */
  result: Promise<string>;
}

export class ServedSession extends ClientSession {
  readonly #begun: Promise<Observation>;
  readonly #calls = new Map<string, RunningCall>();

  /** Begins the episode; {@link prompt} waits for it. */
  constructor(
    served: ServedEnv<unknown>,
    { task, ...options }: SessionOptions & { task: number },
    hooks: SessionHooks,
  ) {
    super(served, options, hooks);
    this.#begun = this.#run(async (signal) => (await this.begin({ task }, signal)).observation);
    this.#begun.catch(() => {});
  }

  /** How the conversation begins, without roles. Throws as {@link messages} does. */
  async prompt(): Promise<object[]> {
    return promptBlocks((await this.#first()).messages);
  }

  /** How the conversation begins. @throws Problem if the set-up has failed, or the session ends. */
  async messages(): Promise<object[]> {
    return wireMessages((await this.#first()).messages);
  }

  /** The tools on offer now. Throws as {@link messages} does. */
  async tools(): Promise<object> {
    await this.#first();
    return wireTools(this.episodes.current!.observation.tools);
  }

  /** Waits for the set-up. @throws Problem if it has failed. */
  async call(name: string, input: Record<string, unknown>): Promise<RunningCall> {
    await this.#first();
    const call = { id: randomUUID(), result: this.#run((signal) => this.#play(name, input, signal)) };
    // The client may have left, and asks later.
    call.result.catch(() => {});
    this.#calls.set(call.id, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxKept) this.#calls.delete(oldest!);
    return call;
  }

  findCall(id: string): RunningCall | undefined {
    return this.#calls.get(id);
  }

  #first(): Promise<Observation> {
    this.touch();
    return this.#begun;
  }

  async #play(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    const { outcome, observation: before, steps } = this.episodes.current!;
    if (outcome.kind === 'aborted' || outcome.kind === 'cancelled') {
      throw new Problem(500, `The episode is not scored (${outcome.kind}): begin another session.`);
    }
    if (outcome.kind !== 'running')
      return refusal(`The episode has ended (${endText(outcome)}).`, 'episode_finished');
    const isAnswer = name === answerNameOf(before.tools);
    if (isAnswer && typeof input.text !== 'string') {
      return refusal(`${name} takes {"text": "…"}.`, 'input_validation');
    }
    const action: Action = isAnswer
      ? { text: String(input.text), toolCalls: [], stopReason: 'stop' }
      : { text: '', toolCalls: [{ id: `call-${steps}`, name, arguments: input }], stopReason: 'tool_call' };
    return this.#toWire(before, await this.play(action, signal));
  }

  #toWire(before: Observation, { observation, outcome, rewards, calls }: ScoredTransition): string {
    const { limits } = this.episodes.env.spec;
    const reward = this.episodes.rewardOf(rewards);
    const finished = outcome.kind !== 'running';
    const [record] = calls;
    const mistake = record?.mistake;
    // A refusal has neither a reward nor an end.
    if (mistake && reward === null && !finished) {
      return refusal(record.text, mistake.code === 'unknown_tool' ? 'not_found' : 'input_validation');
    }
    const isError = Boolean(mistake || record?.result?.isError);
    const [messages] = newMessages(before.messages, observation.messages);
    const replies = finished ? [] : promptBlocks(messages);
    const said = record ? resultBlocks(record, limits.maxToolCharacters) : [];
    const end = finished && !record ? [textBlock(`The episode has ended (${endText(outcome)}).`)] : [];
    const hasOtherTools = !isDeepStrictEqual(before.tools, observation.tools);
    const metadata = {
      outcome,
      rewards,
      ...(isError && { is_error: true }),
      ...(hasOtherTools && { tools_changed: true }),
    };
    return jsonWithoutSecrets({
      ok: true,
      output: { blocks: [...said, ...replies, ...end], metadata, reward, finished },
    });
  }

  /** Runs work whose errors stay on this side: they may name a secret or the answer of the task. */
  async #run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    try {
      return await this.run(work);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (this.hasLeft) throw new Problem(410, 'Session deleted');
      this.hooks.onError(error);
      if (!isInfrastructure(error))
        throw new Problem(500, 'The environment failed: see the log of its server.');
      const message = `The episode was aborted and is not scored (${error.code}): see the log of its server.`;
      throw new Problem(500, message);
    }
  }
}

function refusal(error: string, reason: string): string {
  return jsonWithoutSecrets({ ok: false, error, reason });
}
