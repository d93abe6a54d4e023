/** ServedSession: the episode of one client of ORS. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type Action,
  isInfrastructure,
  type Message,
  type Observation,
  type ScoredTransition,
  type ToolCallRecord,
  type ToolDescription,
} from '@toolenv/core';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { boundText } from '@toolenv/core/tools';
import {
  answerToolNamed,
  ClientSession,
  endText,
  newMessages,
  type ServedEnv,
  type SessionHooks,
  type SessionOptions,
} from '@toolenv/serving';
import { Problem } from './served-tasks.ts';

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

/** ORS's TextBlock or ImageBlock. */
type WireBlock = { detail: null } & (
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
);

function textBlock(text: string): WireBlock {
  return { type: 'text', text, detail: null };
}

/** What the policy reads of a result, and its images in their places. */
function resultBlocks({ text, result }: ToolCallRecord, maxToolCharacters: number): WireBlock[] {
  const { content = [] } = result ?? {};
  if (!content.some(({ type }) => type === 'image')) return [textBlock(text)];
  return content.map((block: Record<string, unknown>): WireBlock => {
    const { type, data, mimeType } = block;
    if (type === 'image') return { type, data: String(data), mimeType: String(mimeType), detail: null };
    return textBlock(type === 'text' ? boundText(String(block.text), maxToolCharacters) : `[${type}]`);
  });
}

/** What the policy reads of messages that it has not written itself. */
function promptBlocks(messages: readonly Message[]): WireBlock[] {
  return messages
    .filter(({ role }) => role === 'user' || role === 'system')
    .map(({ content }) => textBlock(content));
}

/** Messages with roles, as OpenReward's clients read them. There, a tool's result is text of the user. */
function wireMessages(messages: readonly Message[]): object[] {
  return messages.map(({ role, content }) => ({
    role: role === 'tool' ? 'user' : role,
    blocks: [textBlock(content)],
    detail: null,
  }));
}

/** The name of the tool that takes the answer: a name that the environment's own tools do not have. */
function answerNameOf(tools: readonly ToolDescription[]): string {
  let name = 'submit';
  while (tools.some((tool) => tool.name === name)) name += '_answer';
  return name;
}

/** The tools, with one more that takes the answer. Clients of OpenReward give it what the model writes without a call. */
function wireTools(tools: readonly ToolDescription[]): object {
  const name = answerNameOf(tools);
  const answer = answerToolNamed(name);
  const listed = [...tools, answer].map(({ name, description, inputSchema: input_schema }) => {
    return { name, description, input_schema };
  });
  return { tools: listed, terminal_tool: { name, arg: 'text', description: answer.description } };
}
