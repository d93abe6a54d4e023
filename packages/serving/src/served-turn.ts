/** ServedTurn: what a policy's turn has led to on the server that plays its episode, for clients of served environments. */
import { excerpt, failure, ToolEnvError, type ToolResult } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';

/** What a server says of a step. */
export interface ServedStep {
  /** `null` if the step was not scored. */
  reward: number | null;
  done: boolean;
  metadata?: Record<string, unknown>;
}

/** Protocols extend it. */
export class ServedTurn<Step extends ServedStep> {
  #steps: Step[] = [];
  /** Settles after the calls so far. */
  #queue: Promise<unknown> = Promise.resolve();

  /** Takes a step for a tool. Tools of one turn are called at once, and an episode takes one step at a time, none after its end. */
  protected inTurn(work: () => Promise<ToolResult>): Promise<ToolResult> {
    const result = this.#queue.then(() => (this.isOver ? failure('The episode has ended.') : work()));
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Keeps a step for the end of the turn. */
  protected add(step: Step): void {
    this.#steps.push(step);
  }

  get isOver(): boolean {
    return this.#steps.some(({ done }) => done);
  }

  /** Whether the server says that it offers other tools now, as servers of toolenv do. */
  get hasOtherTools(): boolean {
    return this.#steps.some(({ metadata }) => metadata?.tools_changed === true);
  }

  /** The steps of the turn, and the sum of their rewards; `null` if none was scored. The next turn begins. */
  protected take(): { steps: Step[]; reward: number | null } {
    const steps = this.#steps;
    this.#steps = [];
    const scored = steps.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    return { steps, reward: scored.length === 0 ? null : scored.reduce((sum, each) => sum + each, 0) };
  }
}

/**
 * Why the episode of a server has ended, as the metadata of its last step says, in a word; `otherwise` if the server gives none.
 * @throws ToolEnvError `infrastructure.served_episode` if the server did not score its episode: a fault there is a fault here.
 */
export function servedEnd(metadata: unknown, otherwise: string): string {
  const { outcome } = Object(metadata) as { outcome?: unknown };
  if (!isObject(outcome)) return otherwise;
  const { kind, reason, cause } = outcome;
  if (kind === 'aborted' || kind === 'cancelled') {
    const { code, message } = Object(cause) as Record<string, unknown>;
    const said = [code, message].filter((part) => typeof part === 'string').join(': ');
    throw new ToolEnvError(
      'infrastructure.served_episode',
      `The server ${kind === 'aborted' ? 'aborted' : 'cancelled'} its episode, and does not score it${said && ` (${excerpt(said, 300)})`}.`,
    );
  }
  return typeof reason === 'string' && /^[\w.-]{1,64}$/.test(reason) ? reason : otherwise;
}
