/** defineWorldEnv: the definition of the families with a synthetic world. */
import type { EnvDefinition, JsonSchema, Split } from '@toolenv/core';
import { textOf } from './document.ts';
import { defineQaEnv, type QaFamily, type QaOptions } from './qa-env.ts';
import type { QaRecord } from './qa-record.ts';
import { type QuestionFamily, questionSet } from './question-set.ts';
import { createWorld } from './world.ts';

export interface WorldOptions extends QaOptions {
  /** Seeds the world and its questions. Default: the seed of the run. */
  worldSeed?: number;
}

export interface WorldFamily<Options>
  extends Pick<QaFamily<WorldOptions>, 'name' | 'description' | 'maxTurns' | 'hidesAnswer'> {
  /** JSON Schemas of the family's own options. */
  options?: Record<string, JsonSchema>;
  questions(options: Options): QuestionFamily;
}

export function defineWorldEnv<Options extends object = object>({
  options,
  questions,
  ...family
}: WorldFamily<Options>): EnvDefinition<QaRecord, WorldOptions & Partial<Options>> {
  return defineQaEnv<WorldOptions & Options>({
    ...family,
    options: {
      worldSeed: {
        type: 'integer',
        description: 'seeds the world and its questions (default: the seed of the run)',
      },
      ...options,
    },
    async load({ worldSeed, ...own }, seed) {
      const world = createWorld(worldSeed ?? seed);
      const ask = (split: Split) => questionSet(questions(own as unknown as Options), world, split);
      return {
        records: { train: ask('train'), validation: ask('validation'), test: ask('test') },
        documents: world.documents.map((document) => ({ title: document.title, text: textOf(document) })),
      };
    },
  }) as EnvDefinition<QaRecord, WorldOptions & Partial<Options>>;
}
