/** SparePool: a host whose machines begin before they are needed: containers, threads, machines of a service. */
import type { Sandbox } from '@toolenv/core';
import type { SandboxHost } from '@toolenv/core/plugins';
import { untilAborted } from '@toolenv/core/tools';
import { sandboxFault } from './sandbox-errors.ts';

/** The machines of a provider. */
export interface Machines<Machine> {
  /** Machines that are kept ready. */
  spare: number;
  /** @throws What whoever takes the machine is told. */
  begin(): Promise<Machine>;
  remove(machine: Machine): Promise<void>;
  /** The sandbox calls `closed` when it has removed its machine. */
  sandbox(machine: Machine, closed: () => void): Sandbox;
}

export class SparePool<Machine> implements SandboxHost {
  readonly #machines: Machines<Machine>;
  readonly #spare: Promise<Machine>[] = [];
  /** The machines that nobody has: spare machines, and machines for which somebody waits. */
  readonly #begun: Set<Promise<Machine>> = new Set();
  readonly #open: Set<Sandbox> = new Set();
  #closed = false;

  constructor(machines: Machines<Machine>) {
    this.#machines = machines;
    this.#refill();
  }

  async sandbox({ signal }: { signal?: AbortSignal } = {}): Promise<Sandbox> {
    const machine = await this.take(signal);
    const made: Sandbox = this.#machines.sandbox(machine, () => this.#open.delete(made));
    this.#open.add(made);
    return made;
  }

  /**
   * A machine, which the caller removes.
   * @throws ToolEnvError `infrastructure.sandbox` once the pool is closed; what beginning throws; the reason of the signal.
   */
  async take(signal?: AbortSignal): Promise<Machine> {
    signal?.throwIfAborted();
    this.#expectOpen();
    const next = this.#spare.shift() ?? this.#begin();
    this.#refill();
    try {
      const machine = await untilAborted(signal, () => next);
      this.#expectOpen();
      this.#begun.delete(next);
      return machine;
    } catch (error) {
      // It begins all the same.
      if (signal?.aborted && this.#begun.has(next)) this.#spare.push(next);
      throw error;
    }
  }

  /** Closes the sandboxes, and removes the machines that nobody has. @throws What the first of them throws, after all have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    const open = [...this.#open].map((each) => each.close());
    const begun = await Promise.allSettled(this.#begun);
    const ended = begun.map((each) => each.status === 'fulfilled' && this.#machines.remove(each.value));
    const all = await Promise.allSettled([...open, ...ended]);
    const failed = all.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
  }

  #begin(): Promise<Machine> {
    const machine = this.#machines.begin();
    this.#begun.add(machine);
    machine.catch(() => this.#begun.delete(machine));
    return machine;
  }

  #refill(): void {
    while (!this.#closed && this.#spare.length < this.#machines.spare) this.#spare.push(this.#begin());
  }

  #expectOpen(): void {
    if (this.#closed) throw sandboxFault('The sandboxes are closed: open them again.');
  }
}
