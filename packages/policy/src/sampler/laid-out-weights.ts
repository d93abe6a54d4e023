/** A copy of the linear maps' weights, in the layout that a device's products read fastest. Each new set of weights has a new copy. */
import { headName } from '../model/decoder.ts';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import type { Runtime, Tensors } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';

export class LaidOutWeights {
  readonly #runtime: Runtime;
  readonly #shapes: Shapes;
  readonly #programs: Programs<'lay out'> = new Programs();
  #from: Tensors | undefined;
  #copy: Tensors = {};

  constructor(runtime: Runtime, config: ModelConfig) {
    this.#runtime = runtime;
    const isLinear = (name: string, rank: number) =>
      rank === 2 && (name !== 'model.embed_tokens.weight' || name === headName(config));
    this.#shapes = new Map(
      [...parameterShapes(config)].filter(([name, { length }]) => isLinear(name, length)),
    );
  }

  has(name: string): boolean {
    return this.#shapes.has(name);
  }

  /** The copy of the given weights, by their names. */
  async of(weights: Tensors): Promise<Tensors> {
    if (this.#from === weights) return this.#copy;
    this.drop();
    const program = await this.#programs.get('lay out', () => this.#compile());
    const found = await program.run(weights);
    this.#copy = Object.fromEntries([...this.#shapes.keys()].map((name) => [name, found[copyOf(name)]!]));
    this.#from = weights;
    return this.#copy;
  }

  /** Frees the copy. */
  drop(): void {
    disposeTensors(this.#copy);
    this.#copy = {};
    this.#from = undefined;
  }

  async close(): Promise<void> {
    this.drop();
    await this.#programs.closeAll();
  }

  #compile() {
    const program = <T>(ops: Ops<T>) =>
      Object.fromEntries(
        [...this.#shapes].map(([name, shape]) => [
          copyOf(name),
          ops.layOut!(ops.input(name, 'float32', shape)),
        ]),
      );
    return this.#runtime.compile(program, { stays: () => true });
  }
}

function copyOf(name: string): string {
  return `laid out ${name}`;
}
