/** The values of a running chat template, as @huggingface/jinja represents them, and their sizes. */
import type { Interpreter } from '@huggingface/jinja';

export type TemplateValue = ReturnType<Interpreter['evaluate']>;

/** Takes a number of units from what a rendering may use, and throws if nothing is left. */
export type Spend = (units: number) => void;

/** The parts of a list or an object; `undefined` for other values. */
export function partsOf({
  type,
  value,
}: TemplateValue): readonly TemplateValue[] | ReadonlyMap<string, TemplateValue> | undefined {
  if (type === 'ArrayValue' || type === 'TupleValue') return value as TemplateValue[];
  if (type === 'ObjectValue' || type === 'NamespaceValue' || type === 'KeywordArgumentsValue')
    return value as Map<string, TemplateValue>;
  return undefined;
}

/** Characters of a text, items of a list, entries of an object; 0 for other values. */
export function lengthOf(value: TemplateValue): number {
  if (value.type === 'StringValue') return (value.value as string).length;
  const parts = partsOf(value);
  if (parts === undefined) return 0;
  return 'size' in parts ? parts.size : parts.length;
}

export interface Weight {
  /** Characters of all texts and keys. */
  characters: number;
  /** Values inside the value, itself included. */
  nodes: number;
  /** Levels of lists and objects. */
  depth: number;
}

/** Levels that a value may have when it becomes text. A value that contains itself has more. */
const deepest = 200;

/** The weight of a value as text. Parts that occur twice count twice, as they do in the text. */
export function weigh(value: TemplateValue, spend: Spend): Weight {
  const weight: Weight = { characters: 0, nodes: 0, depth: 0 };
  add(value, 1, weight, spend);
  return weight;
}

function add(value: TemplateValue, level: number, weight: Weight, spend: Spend): void {
  const characters = value.type === 'StringValue' ? (value.value as string).length : 8;
  weight.characters += characters;
  weight.nodes += 1;
  spend(nodeUnits + characters);
  const parts = partsOf(value);
  if (parts === undefined) return;
  if (level > deepest) throw new RangeError(`a value has more than ${deepest} levels`);
  weight.depth = Math.max(weight.depth, level);
  if ('size' in parts) {
    for (const [key, part] of parts) {
      weight.characters += key.length;
      spend(key.length);
      add(part, level + 1, weight, spend);
    }
  } else for (const part of parts) add(part, level + 1, weight, spend);
}

const nodeUnits = 32;
