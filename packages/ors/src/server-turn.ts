/** ServerTurn: what the calls of the policy's turn have led to on the server. */
import { failure, type ToolResult, type TurnDecision } from '@toolenv/core';
import { servedEnd } from '@toolenv/serving';
import pLimit, { type LimitFunction } from 'p-limit';
import type { OrsSession } from './ors-session.ts';
import { maxReward, type ToolOutput } from './tool-output.ts';

export class ServerTurn {
  readonly #session: OrsSession;
  /** Tools of one turn are called at once; the episode is one after another. */
  readonly #oneAtATime: LimitFunction = pLimit(1);
  #outputs: ToolOutput[] = [];

  constructor(session: OrsSession) {
    this.#session = session;
  }

  /** Calls a tool, and keeps the reward for the turn's end. A server would answer and reward calls after the end. */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolResult> {
    return this.#oneAtATime(async () => {
      if (this.isOver) return failure('The episode has ended.');
      const output = await this.#session.call(name, args, signal);
      this.#outputs.push(output);
      return output.result;
    });
  }

  /** Whether the server says that it offers other tools now, as servers of toolenv do. */
  get hasOtherTools(): boolean {
    return this.#outputs.some(({ metadata }) => metadata?.tools_changed === true);
  }

  get isOver(): boolean {
    return this.#outputs.some(({ finished }) => finished);
  }

  /**
   * What the turn means. The next turn begins.
   * @throws ToolEnvError As {@link servedEnd}.
   */
  end(): TurnDecision<'reward'> {
    const outputs = this.#outputs;
    this.#outputs = [];
    const last = outputs.find(({ finished }) => finished);
    const scored = outputs.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const sum = scored.reduce((sum, each) => sum + each, 0);
    const metadata = outputs.flatMap(({ metadata }) => (metadata ? [metadata] : []));
    return {
      rewards: {
        reward: scored.length === 0 ? null : Math.max(-maxReward, Math.min(maxReward, sum)),
      },
      ...(last && { end: servedEnd(last.metadata, 'finished') }),
      ...(metadata.length > 0 && { info: { metadata } }),
    };
  }
}
