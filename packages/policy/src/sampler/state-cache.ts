/**
 * The states of conversations, for layers that keep one in the place of keys and values. A state holds all positions so far, so it can be
 * copied and dropped, but not shortened.
 */
import { stateShapes } from '../model/cached-states.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensors, tensor, zeros } from '../runtime/runtime.ts';
import { newOf, pastOf } from './cached-past.ts';

/** Where a slot's state is. Slots may share a row. */
interface Place {
  isActive: boolean;
  row: number;
}

/** The first of the resting rows: the state before the first token. */
const nothing: Place = { isActive: false, row: 0 };

export class StateCache {
  readonly #runtime: Runtime;
  /** The shape of each state, by layer and name. */
  readonly #shapes: ReadonlyMap<string, readonly number[]>;
  readonly #programs: Programs<'gather'> = new Programs();
  /** The rows of the last run, in its order. */
  #active: Tensors;
  #resting: Tensors;
  readonly #places: Map<number, Place> = new Map();

  constructor(runtime: Runtime, config: ModelConfig) {
    this.#runtime = runtime;
    this.#shapes = new Map(
      [...Array(config.num_hidden_layers).keys()].flatMap((layer) =>
        Object.entries(stateShapes(config, layer)).map(
          ([name, shape]) => [`${layer}.${name}`, shape] as const,
        ),
      ),
    );
    this.#active = this.#zeros();
    this.#resting = this.#zeros();
  }

  /** Forgets the state of a slot. */
  drop(slot: number): void {
    this.#places.delete(slot);
  }

  fork(from: number, to: number): void {
    const place = this.#places.get(from);
    if (place) this.#places.set(to, place);
    else this.#places.delete(to);
  }

  /** The states of `slots` as inputs of the sampling program, `past.<layer>.<state>` [B, ..], valid until the cache changes. */
  async view(slots: readonly number[]): Promise<Tensors> {
    if (!this.#isActive(slots)) await this.#activate(slots);
    return this.#named(pastOf, this.#active);
  }

  /** Takes over the outputs of a run on a view, `new.<layer>.<state>`. */
  replace(outputs: Tensors): void {
    disposeTensors(this.#active);
    this.#active = Object.fromEntries([...this.#shapes.keys()].map((name) => [name, outputs[newOf(name)]!]));
  }

  clear(): void {
    for (const tensors of [this.#active, this.#resting]) disposeTensors(tensors);
    this.#active = this.#zeros();
    this.#resting = this.#zeros();
    this.#places.clear();
  }

  async close(): Promise<void> {
    this.clear();
    await this.#programs.closeAll();
  }

  #named(nameOf: (part: string) => string, tensors: Tensors): Tensors {
    return Object.fromEntries(Object.entries(tensors).map(([name, each]) => [nameOf(name), each]));
  }

  #zeros(): Tensors {
    return Object.fromEntries([...this.#shapes].map(([name, shape]) => [name, zeros([1, ...shape])]));
  }

  #rows(tensors: Tensors): number {
    return Object.values(tensors)[0]!.dims[0]!;
  }

  #place(slot: number): Place {
    return this.#places.get(slot) ?? nothing;
  }

  /** Whether the slots are the active rows, in their order, and no other slot needs them. */
  #isActive(slots: readonly number[]): boolean {
    const chosen = new Set(slots);
    return (
      slots.length === this.#rows(this.#active) &&
      slots.every((slot, index) => this.#place(slot).isActive && this.#place(slot).row === index) &&
      [...this.#places].every(([slot, { isActive }]) => chosen.has(slot) || !isActive)
    );
  }

  /** Makes the slots the active rows, and the other slots with a state resting rows. */
  async #activate(slots: readonly number[]): Promise<void> {
    const chosen = new Set(slots);
    const others = [...this.#places.keys()].filter((slot) => !chosen.has(slot));
    const first = this.#rows(this.#active);
    const indexOf = ({ isActive, row }: Place) => (isActive ? row : first + row);
    const gather = (places: readonly Place[]) => this.#gather(places.map(indexOf));
    const active = await gather(slots.map((slot) => this.#place(slot)));
    const resting = await gather([nothing, ...others.map((slot) => this.#place(slot))]);
    for (const tensors of [this.#active, this.#resting]) disposeTensors(tensors);
    [this.#active, this.#resting] = [active, resting];
    // A slot may have been dropped during the runs.
    for (const [row, slot] of others.entries())
      if (this.#places.has(slot)) this.#places.set(slot, { isActive: false, row: row + 1 });
    for (const [row, slot] of slots.entries()) this.#places.set(slot, { isActive: true, row });
  }

  /** Rows of the active states and then the resting ones. */
  async #gather(rows: readonly number[]): Promise<Tensors> {
    const program = <T>(ops: Ops<T>) => {
      const index = ops.input('index', 'int32', ['rows']);
      return Object.fromEntries(
        [...this.#shapes].map(([name, shape]) => {
          const both = [
            ops.input(`active ${name}`, 'float32', ['A', ...shape]),
            ops.input(`resting ${name}`, 'float32', ['R', ...shape]),
          ];
          return [name, ops.gatherRows(ops.concat(both, 0), index)];
        }),
      );
    };
    const compile = () => this.#runtime.compile(program, { stays: () => true });
    return (await this.#programs.get('gather', compile)).run({
      ...this.#named((name) => `active ${name}`, this.#active),
      ...this.#named((name) => `resting ${name}`, this.#resting),
      index: tensor(Int32Array.from(rows), [rows.length]),
    });
  }
}
