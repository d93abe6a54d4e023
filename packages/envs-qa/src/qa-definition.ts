/** defineQaEnv: the definition that all question families share. */
import {
  type EnvDefinition,
  type EnvHandle,
  type EnvLimits,
  type JsonSchema,
  type Script,
  type Split,
  type TaskSet,
  ToolEnvError,
  type ToolFactory,
} from '@toolenv/core';
import { goldTitles, type QaRecord } from './hotpotqa-record.ts';
import { QaEnv, qaLimits, qaRewards } from './qa-env.ts';

/** Options of every family: the limits of an episode, and the number of documents per search. */
export interface QaOptions extends Partial<EnvLimits> {
  /** Documents per search. */
  topK?: number;
}

/** A document for the search tool. */
export interface QaDocument {
  title: string;
  text: string;
}

/** Questions of each split, and the documents to search. */
export interface QaMaterial {
  records: Record<Split, readonly QaRecord[]>;
  documents: readonly QaDocument[];
}

export interface QaFamily<Options extends QaOptions> {
  name: string;
  description: string;
  /** Default of the option `maxTurns`. */
  maxTurns?: number;
  /** Whether no question names its answer, so that the first observation must not contain the answer. */
  hidesAnswer?: boolean;
  /** JSON Schemas of the family's own options. */
  options: Record<string, JsonSchema>;
  required?: string[];
  /** Generates or reads the questions and documents. */
  load(options: Options, seed: number): Promise<QaMaterial>;
}

const defaultTopK = 3;

/** The definition of a family. Its `open` throws ToolEnvError `usage.missing_tool` without a tool for the role `search`. */
export function defineQaEnv<Options extends QaOptions>(
  family: QaFamily<Options>,
): EnvDefinition<QaRecord, Options> {
  const limits = { ...qaLimits, maxTurns: family.maxTurns ?? qaLimits.maxTurns };
  return {
    name: family.name,
    description: family.description,
    options: optionsSchema(family, limits),
    rewards: qaRewards,
    limits,
    roles: { search: '@toolenv/tools-search/search-v1' },
    async open({ options, seed, tools }): Promise<EnvHandle<QaRecord>> {
      const createSearch = searchFactory(family.name, tools);
      const { records, documents } = await family.load(options, seed);
      const search = await createSearch({ documents, topK: options.topK ?? defaultTopK });
      const episodeLimits = limitsOf(options, limits);
      return {
        tasks: {
          train: taskSet(records.train),
          validation: taskSet(records.validation),
          test: taskSet(records.test),
        },
        episode: () => new QaEnv({ name: family.name, limits: episodeLimits, search }),
        close: async () => search.close?.(),
      };
    },
    oracle,
    label: ({ answer }) => (family.hidesAnswer ? answer : undefined),
  };
}

/** Searches for each gold document by its title, then answers. */
function oracle(record: QaRecord): Script {
  const titles = goldTitles(record);
  return ({ tools }, turn) => {
    const query = titles[turn];
    return query === undefined
      ? `<answer>${record.answer}</answer>`
      : [{ name: tools[0]!.name, arguments: { query } }];
  };
}

function optionsSchema<Options extends QaOptions>(family: QaFamily<Options>, limits: EnvLimits): JsonSchema {
  const natural = (description: string, value: number) => ({
    type: 'integer',
    minimum: 1,
    default: value,
    description,
  });
  return {
    type: 'object',
    properties: {
      ...family.options,
      topK: natural('Documents per search.', defaultTopK),
      maxTurns: natural('Turns of an episode, the answer included.', limits.maxTurns),
      maxCallsPerTurn: natural('Searches in one turn.', limits.maxCallsPerTurn),
      toolTimeout: natural('Milliseconds that a search may take.', limits.toolTimeout),
      maxToolCharacters: natural(
        'Characters of a search result that reach the model.',
        limits.maxToolCharacters,
      ),
    },
    required: family.required ?? [],
    additionalProperties: false,
  };
}

function searchFactory(name: string, tools: Record<string, ToolFactory> | undefined): ToolFactory {
  const factory = tools?.search;
  if (factory) return factory;
  const remedy = 'pass a tool factory as tools.search, for example the default export of';
  throw new ToolEnvError(
    'usage.missing_tool',
    `${name} needs a tool of the role "search": ${remedy} @toolenv/tools-search/search-v1.`,
  );
}

function limitsOf(options: QaOptions, defaults: EnvLimits): EnvLimits {
  return {
    maxTurns: options.maxTurns ?? defaults.maxTurns,
    maxCallsPerTurn: options.maxCallsPerTurn ?? defaults.maxCallsPerTurn,
    toolTimeout: options.toolTimeout ?? defaults.toolTimeout,
    maxToolCharacters: options.maxToolCharacters ?? defaults.maxToolCharacters,
  };
}

function taskSet(records: readonly QaRecord[]): TaskSet<QaRecord> {
  return {
    length: records.length,
    get(index) {
      const record = records[index];
      if (record) return record;
      throw new ToolEnvError(
        'usage.task_index',
        `Task ${index} does not exist: there are ${records.length}.`,
      );
    },
  };
}
