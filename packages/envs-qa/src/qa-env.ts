/** defineQaEnv: answer a question by searching. The environment of all question families. */
import {
  defineToolEnv,
  type EnvDefinition,
  type EnvLimits,
  type JsonSchema,
  type Script,
  type Split,
  type Tool,
  type ToolCallRecord,
} from '@toolenv/core';
import { exactMatch, f1Score, substringMatch } from './answer-score.ts';
import { readAnswer } from './answer-tag.ts';
import { goldTitles, type QaRecord } from './hotpotqa-record.ts';

/** Options of every family, beside the limits of an episode. */
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

export interface QaFamily<Options> {
  name: string;
  description: string;
  /** Default of the limit `maxTurns`, the answer included. Default 5. */
  maxTurns?: number;
  /** Whether no question names its answer, so that the first observation must not contain the answer. */
  hidesAnswer?: boolean;
  /** JSON Schemas of the family's own options. */
  options: Record<string, JsonSchema>;
  required?: string[];
  /** Generates or reads the questions and documents. */
  load(options: Options, seed: number): Promise<QaMaterial>;
}

const instruction = 'Answer the question. Use search to find documents. Put the answer in <answer></answer>.';

export function defineQaEnv<Options extends QaOptions>(
  family: QaFamily<Options>,
): EnvDefinition<QaRecord, Options> {
  const { name, description, maxTurns = 5 } = family;
  const env = defineToolEnv({
    name,
    description,
    options: {
      properties: {
        ...family.options,
        topK: { type: 'integer', minimum: 1, default: 3, description: 'documents per search' },
      },
      required: family.required ?? [],
    },
    limits: { maxTurns, maxCallsPerTurn: 1, toolTimeout: 10_000, maxToolCharacters: 2048 },
    roles: { search: '@toolenv/tools-search/search-v1' },
    async setup({ options, seed, tools }) {
      const { records, documents } = await family.load(options as unknown as Options, seed);
      const search: Tool = await tools.search!({ documents, topK: options.topK });
      return { records, search };
    },
    teardown: async ({ search }) => search.close?.(),
    tasks: ({ shared }) => shared.records,
    /** Only `em` and `retrieved` have a weight; the other components are only reported. */
    rewards: {
      em: { kind: 'outcome' },
      f1: { kind: 'outcome', weight: 0 },
      substring: { kind: 'outcome', weight: 0 },
      /** 1 for one well-formed answer without any mistaken call. */
      format: { kind: 'outcome', weight: 0 },
      /** Share of the gold documents that the turn is the first to find; not scored in a turn without a search. */
      retrieved: { kind: 'process', weight: 0.1 },
    },
    episode({ task: record, shared: { search } }) {
      const titles = goldTitles(record);
      const missing = new Set(titles);
      return {
        messages: [
          { role: 'system', content: instruction },
          { role: 'user', content: record.question },
        ],
        tools: [search],
        onToolResults(calls) {
          const searches = calls.filter(({ result }) => result !== undefined);
          if (searches.length === 0 || titles.length === 0) return { rewards: { retrieved: null } };
          const found = [...missing].filter((title) => searches.some((search) => shows(search, title)));
          for (const title of found) missing.delete(title);
          return { rewards: { retrieved: found.length / titles.length } };
        },
        onAnswer(text, { calls }) {
          const { answer, wellFormed } = readAnswer(text);
          const score = (of: (prediction: string, gold: string) => number) =>
            answer === undefined ? 0 : of(answer, record.answer);
          const mistaken = calls.some(({ mistake }) => mistake !== undefined);
          return {
            rewards: {
              em: score(exactMatch),
              f1: score(f1Score),
              substring: score(substringMatch),
              format: wellFormed && !mistaken ? 1 : 0,
            },
            end: 'answered',
            info: { answer: answer ?? null },
          };
        },
      };
    },
    oracle,
    label: ({ answer }) => (family.hidesAnswer ? answer : undefined),
  });
  // The family's options are part of the schema above; their types come from the family.
  return env as unknown as EnvDefinition<QaRecord, Options>;
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

/** Whether the model read the document's line. A document that was cut from a long result does not count as found. */
function shows({ text }: ToolCallRecord, title: string): boolean {
  return text.startsWith(`${title}: `) || text.includes(`\n${title}: `);
}
