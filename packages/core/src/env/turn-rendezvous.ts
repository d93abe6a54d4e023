/**
 * TurnRendezvous: hands the turns that a hook asks of the policy to the steps of the episode. The hook waits, the step before returns what the
 * player sees, and the next step brings the action.
 */
import type { Action } from '../protocol/action.ts';
import type { Observation } from '../protocol/message.ts';

interface AskedTurn {
  player: string;
  observation: Observation;
  take(action: Action): void;
  reject(reason: unknown): void;
}

export class TurnRendezvous {
  readonly #asked: AskedTurn[] = [];
  /** Works that the next turn waits for. */
  #underWay = 0;
  #failure: { reason: unknown } | undefined;
  #changed: (() => void) | undefined;
  #next: Promise<Observation> | undefined;

  /**
   * Waits for the action of the policy, and runs its calls by `take`. Turns that are asked for at once are taken one after another, and
   * each has its calls in its own step.
   */
  ask<T>(player: string, observation: Observation, take: (action: Action) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const takeOrFail = (action: Action) =>
        take(action).catch((reason: unknown) => {
          // Its step fails, whatever the hook makes of it, and no other turn begins.
          this.#failure = { reason };
          throw reason;
        });
      this.#asked.push({
        player,
        observation,
        take: (action) => void this.during(() => takeOrFail(action)).then(resolve, reject),
        reject,
      });
      this.#changed?.();
    });
  }

  /** Does work that ends before the next turn of the policy begins, so that no step depends on how long it takes. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#changed?.();
    }
  }

  /** The player whose turn a hook asks for first; `undefined` if none waits. */
  get waiting(): string | undefined {
    return this.#asked[0]?.player;
  }

  /**
   * What the policy sees of the turn that is asked for first. Resolves once there is such a turn, and all that is under way has ended.
   * @throws What the calls of a turn throw.
   */
  next(): Promise<Observation> {
    // A step that ended without such a turn has left its promise to the next step.
    this.#next ??= this.#untilAsked().finally(() => (this.#next = undefined));
    return this.#next;
  }

  async #untilAsked(): Promise<Observation> {
    while (!this.#failure && (this.#asked.length === 0 || this.#underWay > 0))
      await new Promise<void>((resolve) => (this.#changed = resolve));
    if (this.#failure) throw this.#failure.reason;
    return this.#asked[0]!.observation;
  }

  /** Takes the action of the turn that {@link next} has returned. */
  answer(action: Action): void {
    this.#asked.shift()!.take(action);
  }

  /** No action will come. */
  abandon(reason: unknown): void {
    for (const { reject } of this.#asked.splice(0)) reject(reason);
  }
}
