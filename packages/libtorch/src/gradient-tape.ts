/** The tape: how gradients are pulled back through operations that were computed, last first. */
import type { Kernels } from './kernels.ts';
import type { TorchTensor } from './torch-tensor.ts';

/** Gradients of the inputs, in their order, from those of the outputs, of which at least one is there. */
export type Pull = (
  arriving: readonly (TorchTensor | undefined)[],
  wants: (input: number) => boolean,
) => readonly (TorchTensor | undefined)[];

interface Entry {
  inputs: readonly TorchTensor[];
  outputs: readonly TorchTensor[];
  /** Tensors that `pull` reads. The tape owns them. */
  saved: readonly TorchTensor[];
  pull: Pull;
  /** Whether `pull` frees what it makes and does not return. Otherwise the tape does. */
  isTidy: boolean;
}

export class GradientTape {
  readonly #kernels: Kernels;
  /** Tensors that the sources of gradients lead to. */
  readonly #tracked: Set<TorchTensor>;
  #entries: Entry[] = [];

  constructor(kernels: Kernels, sources: Iterable<TorchTensor>) {
    this.#kernels = kernels;
    this.#tracked = new Set(sources);
  }

  /** Notes an operation, unless no gradient passes through it. The inputs and outputs are told apart by identity. */
  record(
    inputs: readonly TorchTensor[],
    outputs: readonly TorchTensor[],
    saved: readonly TorchTensor[],
    pull: Pull,
    isTidy = false,
  ): void {
    if (!inputs.some((input) => this.#tracked.has(input))) return;
    for (const output of outputs) this.#tracked.add(output);
    this.#entries.push({ inputs, outputs, saved: saved.map((each) => each.keep()), pull, isTidy });
  }

  /**
   * Empties the tape. The caller owns the gradients of `sources` that it gets; `undefined` for a source that does not matter. The given
   * gradients are dropped.
   */
  pullBack(
    given: readonly (readonly [TorchTensor, TorchTensor])[],
    sources: readonly TorchTensor[],
  ): (TorchTensor | undefined)[] {
    const kept = new Set(sources);
    const gradients = new Map<TorchTensor, TorchTensor>();
    const add = (to: TorchTensor, contribution: TorchTensor) => {
      const before = gradients.get(to);
      gradients.set(to, before ? this.#kernels.add(before, contribution) : contribution);
      if (!before) return;
      before.drop();
      contribution.drop();
    };
    for (const [to, gradient] of given) add(to, gradient);
    for (let entry = this.#entries.pop(); entry; entry = this.#entries.pop()) {
      const { inputs, outputs, saved, pull, isTidy } = entry;
      const arriving = outputs.map((output) => gradients.get(output));
      if (arriving.some((gradient) => gradient !== undefined)) {
        const wants = (input: number) => this.#tracked.has(inputs[input]!);
        const contributions = isTidy
          ? pull(arriving, wants)
          : this.#kernels.tidy(() => pull(arriving, wants));
        const seen = new Set<TorchTensor | undefined>(arriving);
        for (const [index, contribution] of contributions.entries()) {
          if (!contribution || !wants(index)) continue;
          // A gradient may pass unchanged, and to several inputs.
          if (seen.has(contribution)) contribution.keep();
          seen.add(contribution);
          add(inputs[index]!, this.#asTypeOf(inputs[index]!, contribution));
        }
        for (const unwanted of new Set(contributions)) if (!seen.has(unwanted)) unwanted?.drop();
        for (const [index, output] of outputs.entries()) {
          if (kept.has(output)) continue;
          arriving[index]?.drop();
          gradients.delete(output);
        }
      }
      for (const each of saved) each.drop();
    }
    for (const [value, gradient] of gradients) if (!kept.has(value)) gradient.drop();
    return sources.map((source) => gradients.get(source));
  }

  /** Takes the operations off the tape that `compute` records. */
  apart<Made>(compute: () => Made): { made: Made; tape: GradientTape } {
    const outside = this.#entries;
    this.#entries = [];
    try {
      const made = compute();
      const tape = new GradientTape(this.#kernels, this.#tracked);
      tape.#entries = this.#entries;
      return { made, tape };
    } finally {
      this.#entries = outside;
    }
  }

  /** Frees what is left on the tape. */
  clear(): void {
    for (const { saved } of this.#entries) for (const each of saved) each.drop();
    this.#entries = [];
  }

  #asTypeOf({ type }: TorchTensor, gradient: TorchTensor): TorchTensor {
    if (gradient.type === type) return gradient;
    const cast = this.#kernels.cast(gradient, type);
    gradient.drop();
    return cast;
  }
}
