/** defineWorldEnv: the definition of the families with a synthetic world. */
import type { EnvDefinition, Split } from '@toolenv/core';
import { textOf } from './document.ts';
import { defineQaEnv, type QaFamily, type QaOptions } from './qa-env.ts';
import type { QaRecord } from './qa-record.ts';
import { type QuestionFamily, questionSet } from './question-set.ts';
import { createWorld } from './world.ts';

export interface WorldOptions extends QaOptions {
  /** Seeds the world and its questions. Default: the seed of the run. */
  worldSeed?: number;
}

export interface WorldFamily
  extends Pick<QaFamily<WorldOptions>, 'name' | 'description' | 'maxTurns' | 'hidesAnswer'> {
  questions: QuestionFamily;
}

export function defineWorldEnv({ questions, ...family }: WorldFamily): EnvDefinition<QaRecord, WorldOptions> {
  return defineQaEnv<WorldOptions>({
    ...family,
    options: {
      worldSeed: {
        type: 'integer',
        description: 'seeds the world and its questions (default: the seed of the run)',
      },
    },
    async load({ worldSeed }, seed) {
      const world = createWorld(worldSeed ?? seed);
      const ask = (split: Split) => questionSet(questions, world, split);
      return {
        records: { train: ask('train'), validation: ask('validation'), test: ask('test') },
        documents: world.documents.map((document) => ({ title: document.title, text: textOf(document) })),
      };
    },
  });
}
