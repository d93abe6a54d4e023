/** QaEnv: answer a question by searching. The environment of all question families. */
import {
  type EnvLimits,
  type EnvSpec,
  type InitialState,
  outcomeReward,
  processReward,
  type RewardSpec,
  type Tool,
  type ToolCallRecord,
  ToolEnv,
  type TurnResult,
  terminated,
} from '@toolenv/core';
import { exactMatch, f1Score, substringMatch } from './answer-score.ts';
import { readAnswer } from './answer-tag.ts';
import { goldTitles, type QaRecord } from './hotpotqa-record.ts';

/** Only `em` and `retrieved` have a weight; the other components are only reported. */
export const qaRewards: RewardSpec = {
  em: outcomeReward([0, 1], 1),
  f1: outcomeReward([0, 1], 0),
  substring: outcomeReward([0, 1], 0),
  /** 1 for one well-formed answer without any mistaken call. */
  format: outcomeReward([0, 1], 0),
  /** Share of the gold documents that the turn is the first to find; not scored in a turn without a search. */
  retrieved: processReward([0, 1], 0.1),
};

export const qaLimits: EnvLimits = {
  maxTurns: 5,
  maxCallsPerTurn: 1,
  toolTimeout: 10_000,
  maxToolCharacters: 2048,
};

const instruction = 'Answer the question. Use search to find documents. Put the answer in <answer></answer>.';

export interface QaState {
  readonly record: QaRecord;
  /** Number of documents that the question needs. */
  readonly gold: number;
  /** Titles of gold documents that no search has found yet. */
  readonly missing: Set<string>;
  /** Whether any call was a mistake. */
  mistaken: boolean;
}

export interface QaEnvOptions {
  name: string;
  limits: EnvLimits;
  /** The tool of the role `search`. Episodes share it and do not close it. */
  search: Tool;
}

export class QaEnv extends ToolEnv<QaRecord, QaState> {
  readonly spec: EnvSpec;
  readonly #search: Tool;

  constructor({ name, limits, search }: QaEnvOptions) {
    super();
    this.spec = { specVersion: 'v1', name, rewards: qaRewards, limits };
    this.#search = search;
  }

  protected override initial(record: QaRecord): InitialState<QaState> {
    const titles = goldTitles(record);
    return {
      state: { record, gold: titles.length, missing: new Set(titles), mistaken: false },
      messages: [
        { role: 'system', content: instruction },
        { role: 'user', content: record.question },
      ],
    };
  }

  protected override tools(): Tool[] {
    return [this.#search];
  }

  protected override onToolResults(state: QaState, calls: ToolCallRecord[]): TurnResult {
    state.mistaken ||= calls.some(({ mistake }) => mistake !== undefined);
    const searches = calls.filter(({ result }) => result !== undefined);
    if (searches.length === 0 || state.gold === 0) return { rewards: { retrieved: null } };
    const found = [...state.missing].filter((title) => searches.some((search) => shows(search, title)));
    for (const title of found) state.missing.delete(title);
    return { rewards: { retrieved: found.length / state.gold } };
  }

  protected override onAnswer(state: QaState, text: string): TurnResult {
    const { answer, wellFormed } = readAnswer(text);
    const gold = state.record.answer;
    const score = (of: (prediction: string, gold: string) => number) =>
      answer === undefined ? 0 : of(answer, gold);
    return {
      rewards: {
        em: score(exactMatch),
        f1: score(f1Score),
        substring: score(substringMatch),
        format: wellFormed && !state.mistaken ? 1 : 0,
      },
      outcome: terminated('answered'),
      info: { answer: answer ?? null },
    };
  }
}

/** Whether the model read the document's line. A document that was cut from a long result does not count as found. */
function shows({ text }: ToolCallRecord, title: string): boolean {
  return text.startsWith(`${title}: `) || text.includes(`\n${title}: `);
}
