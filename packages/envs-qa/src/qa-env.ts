/** defineQaEnv: answer a question by searching. The environment of all question families. */
import {
  defineToolEnv,
  type EnvDefinition,
  type EnvLimits,
  type JsonSchema,
  type PublishedData,
  type Script,
  type TaskSources,
  type Tool,
  ToolEnvError,
} from '@toolenv/core';
import { type AnswerScore, exactMatch, f1Score, substringMatch } from './answer-score.ts';
import { readAnswer } from './answer-tag.ts';
import { documentsOf, goldTitles, type QaDocument, type QaRecord, type QaTask } from './qa-record.ts';

/** Options of every family, and the limits of an episode. */
export interface QaOptions extends Partial<EnvLimits> {
  /** Documents per search. */
  topK?: number;
}

/** Questions of each split, and what to search. */
export interface QaMaterial<Task extends QaTask = QaRecord> {
  records: TaskSources<Task>;
  /** `own`: each question has its own documents, those of its context. `elsewhere`: the tool has an index already. */
  documents: readonly QaDocument[] | 'own' | 'elsewhere';
}

export interface QaFamily<Options, Task extends QaTask = QaRecord> {
  name: string;
  description: string;
  /** Default of the limit `maxTurns`, the answer included. Default 5. */
  maxTurns?: number;
  /** Whether no question names its answer, so that the first observation must not contain the answer. */
  hidesAnswer?: boolean;
  /** JSON Schemas of the family's own options. */
  options: Record<string, JsonSchema>;
  required?: string[];
  /** Whether some questions cannot be answered from their documents, so that `unanswerable` is the right answer. */
  mayBeUnanswerable?: boolean;
  /** F1 of the dataset's official script. Default: that of HotpotQA. */
  f1?: AnswerScore;
  /** The files of the dataset. */
  data?: PublishedData;
  /** Generates or reads the questions and documents. */
  load(options: Options, seed: number): Promise<QaMaterial<Task>>;
}

const instruction = 'Answer the question. Use search to find documents. Put the answer in <answer></answer>.';
/** The answer to a question that its documents do not answer. */
const unanswerable = 'unanswerable';
const orUnanswerable = ` Answer ${unanswerable} if the documents do not contain the answer.`;
/** Further components where some questions cannot be answered. */
const unanswerableRewards = {
  /** 1 for the right answer, or for `unanswerable` if there is no answer. */
  correct: { kind: 'outcome' },
  /** 1 for any answer if there is one, or for `unanswerable` if there is none. */
  answerable: { kind: 'outcome', weight: 0 },
} as const;
/** Upper end of the range of `searches`; further searches do not count. */
const maxSearches = 100;

export function defineQaEnv<Options extends QaOptions, Task extends QaTask = QaRecord>(
  family: QaFamily<Options, Task>,
): EnvDefinition<Task, Options> {
  const { name, description, maxTurns = 5, f1 = f1Score, mayBeUnanswerable = false } = family;
  const system = mayBeUnanswerable ? instruction + orUnanswerable : instruction;
  const ofUnanswerable = mayBeUnanswerable ? unanswerableRewards : {};
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
    prompts: { system },
    limits: { maxTurns, maxCallsPerTurn: 1, toolTimeout: 10_000, maxToolCharacters: 2048 },
    data: family.data,
    roles: { search: '@toolenv/tools-search/search-v1' },
    async setup({ options, seed, tools }) {
      const { documents, ...material } = await family.load(options as unknown as Options, seed);
      const makeSearch = (of: readonly QaDocument[]) => tools.search!({ documents: of, topK: options.topK });
      // Each episode makes its own.
      if (documents === 'own') return { ...material, search: undefined, makeSearch };
      const search = documents === 'elsewhere' ? searchElsewhere(makeSearch) : makeSearch(documents);
      return { ...material, search: await search, makeSearch };
    },
    teardown: async ({ search }) => search?.close?.(),
    tasks: ({ shared }) => shared.records,
    state({ task }) {
      const gold = goldDocuments(task);
      return { gold, missing: new Set(gold) };
    },
    /** Only `em` or `correct`, and `retrieved`, have a weight; the other components are only reported. */
    rewards: {
      em: { kind: 'outcome', weight: mayBeUnanswerable ? 0 : 1 },
      f1: { kind: 'outcome', weight: 0 },
      substring: { kind: 'outcome', weight: 0 },
      /** 1 for one well-formed answer without any mistaken call. */
      format: { kind: 'outcome', weight: 0 },
      /** Share of the gold documents that the turn is the first to find; not scored in a turn without a search. */
      retrieved: { kind: 'process', weight: 0.1 },
      /** Share of the gold documents that the episode found: 0 without a search. */
      recall: {
        kind: 'outcome',
        weight: 0,
        score: ({ state: { gold, missing } }) => (gold.length === 0 ? null : 1 - missing.size / gold.length),
      },
      /** Searches of the episode, without mistaken calls. */
      searches: {
        kind: 'outcome',
        weight: 0,
        range: [0, maxSearches],
        score: ({ calls }) =>
          Math.min(calls.filter(({ result }) => result !== undefined).length, maxSearches),
      },
      // The type has them in any case, so that `onAnswer` may give them.
      ...(ofUnanswerable as typeof unanswerableRewards),
    },
    async episode({ task, prompt, state: { gold, missing }, shared: { search: common, makeSearch } }) {
      const search = common ?? (await makeSearch(documentsOf([task as QaTask as QaRecord])));
      return {
        messages: [
          { role: 'system', content: prompt('system') },
          { role: 'user', content: task.question },
        ],
        tools: [search],
        onToolResults(calls) {
          const searches = calls.filter(({ result }) => result !== undefined);
          if (searches.length === 0 || gold.length === 0) return { rewards: { retrieved: null } };
          const found = [...missing].filter((document) => searches.some(({ text }) => shows(text, document)));
          for (const document of found) missing.delete(document);
          return { rewards: { retrieved: found.length / gold.length } };
        },
        onAnswer(text, { calls }) {
          const { answer, wellFormed } = readAnswer(text);
          const mistaken = calls.some(({ mistake }) => mistake !== undefined);
          return {
            rewards: {
              ...scoresOf(task, answer, f1),
              format: wellFormed && !mistaken ? 1 : 0,
              ...(mayBeUnanswerable && scoresOfUnanswerable(task, answer)),
            },
            end: 'answered',
            info: { answer: answer ?? null },
          };
        },
        ...(!common && { close: () => search.close?.() }),
      };
    },
    oracle,
    label: ({ answer }) => (family.hidesAnswer ? answer : undefined),
  });
  // The family's options are part of the schema above; their types come from the family.
  return env as unknown as EnvDefinition<Task, Options>;
}

/** The scores of an answer; not scored for a question that cannot be answered, which MuSiQue's script leaves out of EM and F1. */
function scoresOf(
  { answer: gold, aliases = [], answerable }: QaTask,
  answer: string | undefined,
  f1: AnswerScore,
): Record<'em' | 'f1' | 'substring', number | null> {
  const golds = [gold, ...aliases];
  const score = (of: AnswerScore) => (answer === undefined ? 0 : of(answer, golds));
  if (answerable === false) return { em: null, f1: null, substring: null };
  return { em: score(exactMatch), f1: score(f1), substring: score(substringMatch) };
}

function scoresOfUnanswerable(
  task: QaTask,
  answer: string | undefined,
): Record<keyof typeof unanswerableRewards, number> {
  const { answerable = true } = task;
  const says = answer !== undefined && (exactMatch(answer, unanswerable) === 0) === answerable;
  const { em } = scoresOf(task, answer, f1Score);
  return { correct: says ? (em ?? 1) : 0, answerable: says ? 1 : 0 };
}

type MakeSearch = (documents: readonly QaDocument[]) => Promise<Tool>;

/** @throws ToolEnvError `usage.corpus` if the tool has no index of its own. */
async function searchElsewhere(makeSearch: MakeSearch): Promise<Tool> {
  try {
    return await makeSearch([]);
  } catch (error) {
    if (!ToolEnvError.isInstance(error) || error.code !== 'usage.no_documents') throw error;
    const remedy = 'give a tool with an index, by --tool search=<reference>, or another corpus';
    const message = `corpus is "elsewhere", and the search tool has no index of its own: ${remedy}.`;
    throw new ToolEnvError('usage.corpus', message, { cause: error });
  }
}

/** Searches for each gold document, then answers. */
function oracle(task: QaTask): Script {
  const gold = goldDocuments(task);
  return ({ tools }, turn) => {
    const document = gold[turn];
    if (document !== undefined) {
      const query = `${document.title} ${document.opening ?? ''}`.trim();
      return [{ name: tools[0]!.name, arguments: { query } }];
    }
    return `<answer>${task.answerable === false ? unanswerable : task.answer}</answer>`;
  };
}

interface GoldDocument {
  title: string;
  /** How its text begins, where several documents have the title. */
  opening?: string;
}

/** Characters of a text that tell it from others with its title. */
const openingLength = 80;

/** In the order of the hops. Empty if the data names none. */
function goldDocuments(task: QaTask): GoldDocument[] {
  const { supporting_paragraphs: paragraphs } = task;
  if (!paragraphs) return goldTitles(task).map((title) => ({ title }));
  return paragraphs.map(([title, text]) => ({
    title,
    opening: text.trim().replaceAll(/\s+/g, ' ').slice(0, openingLength).trim(),
  }));
}

/** Whether the model read the document's line. A document that was cut from a long result does not count as found. */
function shows(result: string, { title, opening = '' }: GoldDocument): boolean {
  const line = `${title}: ${opening}`;
  return result.startsWith(line) || result.includes(`\n${line}`);
}
