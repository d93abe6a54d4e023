/** ServerTurn: what the calls of the policy's turn have led to on the server. */
import { failure, ToolEnvError, type ToolResult, type TurnDecision } from '@toolenv/core';
import { Deadline } from '@toolenv/core/tools';
import pLimit, { type LimitFunction } from 'p-limit';
import type { OrsSession } from './ors-session.ts';
import { largestReward, type ToolOutput } from './tool-output.ts';

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

  /**
   * Gives the answer to the tool that takes it.
   * @param timeout Milliseconds.
   * @returns What the tool says.
   * @throws ToolEnvError `infrastructure.tool_timeout`, and as {@link call} does.
   */
  async answer(
    name: string,
    args: Record<string, unknown>,
    { signal, timeout }: { signal: AbortSignal; timeout: number },
  ): Promise<string> {
    const reason = () => {
      const message = `Tool "${name}" did not take the answer within ${timeout / 1000} s: raise the environment's toolTimeout.`;
      return new ToolEnvError('infrastructure.tool_timeout', message);
    };
    const deadline = new Deadline({ after: timeout, parent: signal, reason });
    try {
      const { content } = await deadline.race((signal) => this.call(name, args, signal));
      return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    } finally {
      deadline.clear();
    }
  }

  /** Whether the server says that it offers other tools now, as servers of toolenv do. */
  get hasOtherTools(): boolean {
    return this.#outputs.some(({ metadata }) => metadata?.tools_changed === true);
  }

  get isOver(): boolean {
    return this.#outputs.some(({ finished }) => finished);
  }

  /** What the turn means. The next turn begins. */
  end(): TurnDecision<'reward'> {
    const { isOver } = this;
    const outputs = this.#outputs;
    this.#outputs = [];
    const scored = outputs.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const sum = scored.reduce((sum, each) => sum + each, 0);
    const metadata = outputs.flatMap(({ metadata }) => (metadata ? [metadata] : []));
    return {
      rewards: {
        reward: scored.length === 0 ? null : Math.max(-largestReward, Math.min(largestReward, sum)),
      },
      ...(isOver && { end: 'finished' }),
      ...(metadata.length > 0 && { info: { metadata } }),
    };
  }
}
