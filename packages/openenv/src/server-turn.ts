/** ServerTurn: what the server has said since the policy's last turn. */
import { failure, type Message, ToolEnvError, type ToolResult, type TurnDecision } from '@toolenv/core';
import { contentText, isObject } from '@toolenv/core/schemas';
import { servedEnd } from '@toolenv/serving';
import pLimit, { type LimitFunction } from 'p-limit';
import type { StepResult } from './frame.ts';
import { refused, type ServerSocket } from './server-socket.ts';

export class ServerTurn {
  readonly #socket: ServerSocket;
  /** Tools of one turn are called at once; the server takes one step at a time. */
  readonly #oneAtATime: LimitFunction = pLimit(1);
  #steps: StepResult[] = [];

  constructor(socket: ServerSocket) {
    this.#socket = socket;
  }

  /** Steps, and keeps the reward for the turn's end. Throws as {@link ServerSocket.ask} does. */
  async act(action: object, signal: AbortSignal): Promise<StepResult> {
    const step = await this.#socket.ask('step', action, signal);
    this.#steps.push(step);
    return step;
  }

  /** Steps for a tool. An action that the server refuses is a mistake of the model. */
  call(
    action: object,
    signal: AbortSignal,
    read: (observation: Record<string, unknown>) => ToolResult,
  ): Promise<ToolResult> {
    return this.#oneAtATime(async () => {
      if (this.isOver) return failure('The episode has ended.');
      try {
        return read((await this.act(action, signal)).observation);
      } catch (error) {
        if (ToolEnvError.isInstance(error) && error.code === refused) return failure(error.message);
        throw error;
      }
    });
  }

  get isOver(): boolean {
    return this.#steps.some(({ done }) => done);
  }

  /** Whether the server says that it offers other tools now. */
  get hasOtherTools(): boolean {
    return this.#steps.some(({ metadata }) => metadata.tools_changed === true);
  }

  /**
   * What the turn means. The next turn begins.
   * @throws ToolEnvError As {@link servedEnd}.
   */
  end(): TurnDecision<'reward'> {
    const steps = this.#steps;
    this.#steps = [];
    const scored = steps.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const reward = scored.length === 0 ? null : scored.reduce((sum, each) => sum + each, 0);
    const last = steps.find(({ done }) => done);
    if (last) return { rewards: { reward }, end: servedEnd(last.metadata, 'done') };
    const rewritten = steps.findLastIndex(({ metadata }) => metadata.rewritten === true);
    const reply = steps
      .slice(rewritten + 1)
      .flatMap(({ observation }) => readMessages(observation.messages))
      .filter(({ role }) => role === 'user' || role === 'system');
    return {
      rewards: { reward },
      ...(rewritten >= 0 && { rewrite: readMessages(steps[rewritten]!.observation.messages) }),
      ...(reply.length > 0 && { reply }),
    };
  }
}

/** The messages of a list, whose contents may be lists of parts of text; empty if `given` is not a list of messages. The environment's boundary checks them further. */
export function readMessages(given: unknown): Message[] {
  if (!Array.isArray(given)) return [];
  const messages = given.map((each) => {
    const content = isObject(each) && typeof each.role === 'string' ? contentText(each.content) : undefined;
    return content === undefined ? undefined : ({ ...each, content } as Message);
  });
  return messages.every((message) => message !== undefined) ? messages : [];
}
