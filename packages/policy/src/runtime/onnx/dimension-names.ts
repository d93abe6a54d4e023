/**
 * DimensionNames: which names of dimensions have one length in a graph. ONNX Runtime gives the memory of one value to another of the same named
 * shape. Where it knows no names, it compares all values with all others as it plans: seconds for thousands of nodes.
 */
import type { Dim } from '../ops.ts';

/** The product of named dimensions and a number. */
interface Product {
  names: readonly string[];
  factor: number;
}

export class DimensionNames {
  /** What a name that no input has stands for; `undefined` if it stands for two products. */
  readonly #meanings: Map<string, Product | undefined> = new Map();

  /** Notes what a name means that only the second of two shapes of one value has. */
  note(from: readonly Dim[], to: readonly Dim[]): void {
    const fresh = to.filter((dim): dim is string => typeof dim === 'string' && !from.includes(dim));
    const [name] = fresh;
    if (name === undefined || fresh.length > 1) return;
    const meaning = quotient(from, to.toSpliced(to.indexOf(name), 1));
    if (!this.#meanings.has(name)) this.#meanings.set(name, meaning);
    else if (textOf(this.#meanings.get(name)) !== textOf(meaning)) this.#meanings.set(name, undefined);
  }

  /** Whether each name in the shape has one length in the graph. @param inputs The names in the shapes of inputs. */
  areSure(shape: readonly Dim[], inputs: ReadonlySet<string>): boolean {
    return namesIn(shape).every((name) => this.#isSure(name, inputs));
  }

  /** @param above The names whose meanings lead here. */
  #isSure(name: string, inputs: ReadonlySet<string>, above: readonly string[] = []): boolean {
    if (inputs.has(name)) return true;
    const meaning = this.#meanings.get(name);
    if (!meaning || above.includes(name)) return false;
    return namesIn(meaning.names).every((each) => this.#isSure(each, inputs, [...above, name]));
  }
}

/** T and P in `T/4+P+1`. */
function namesIn(shape: readonly Dim[]): string[] {
  const parts = shape.flatMap((dim) => (typeof dim === 'number' ? [] : dim.split('+')));
  return parts.map((part) => part.split('/')[0]!).filter((part) => !/^\d+$/.test(part));
}

function quotient(of: readonly Dim[], by: readonly Dim[]): Product {
  const names = of.filter((dim) => typeof dim === 'string');
  let factor = 1;
  for (const dim of of) if (typeof dim === 'number') factor *= dim;
  for (const dim of by) {
    if (typeof dim === 'number') factor /= dim;
    else names.splice(names.indexOf(dim), 1);
  }
  return { names: names.sort(), factor };
}

function textOf(product: Product | undefined): string {
  return product ? [...product.names, product.factor].join('*') : '';
}
