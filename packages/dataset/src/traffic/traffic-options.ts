/** TrafficOptions: which recorded conversations become tasks, and how. The schema has the defaults. */
import type { SpokenMessage } from './conversation.ts';
import type { Redaction } from './redaction.ts';

/** A recorded conversation, after its redaction. */
export interface ScoredConversation {
  messages: readonly SpokenMessage[];
  tools: readonly Record<string, unknown>[];
  /** The messages as one text. */
  text: string;
}

/** How good a conversation is; `null` for "not scored". */
export type ConversationScore = (
  conversation: ScoredConversation,
  context: { signal: AbortSignal },
) => number | null | Promise<number | null>;

export interface TrafficOptions {
  /** JSONL files of `toolenv capture`. They may be packed by gzip. */
  captured: readonly string[];
  /** New folder for `train.jsonl`, `validation.jsonl` and `test.jsonl`. */
  out: string;
  /** What no two splits share. */
  splitBy?: 'task' | 'user' | 'time' | undefined;
  /** Share of the tasks, users or conversations in the split `validation`. */
  validation?: number | undefined;
  /** The same in the split `test`. */
  test?: number | undefined;
  /** Estimated Jaccard similarity from which tasks count as equal. Default: only white space may differ. */
  nearDuplicates?: number | undefined;
  /** Applied in order, before anything else is done with a text. */
  redact?: readonly Redaction[] | undefined;
  /** Scores each conversation of the tasks that are kept. */
  score?: ConversationScore | undefined;
  signal?: AbortSignal | undefined;
  /** Called as bytes are read, and as conversations are scored. A `total` of 0 is unknown. */
  onProgress?: ((progress: TrafficProgress) => void) | undefined;
}

export interface TrafficProgress {
  stage: 'reading' | 'scoring';
  /** Bytes, or conversations. */
  done: number;
  total: number;
  conversations: number;
}

/** JSON Schema of the options with values, with defaults. */
export const trafficSchema = {
  type: 'object',
  properties: {
    splitBy: {
      enum: ['task', 'user', 'time'],
      default: 'task',
      description:
        'what no two splits share: tasks only, users too, or times too, with the earliest in train and the latest in test',
    },
    validation: {
      type: 'number',
      minimum: 0,
      exclusiveMaximum: 1,
      default: 0.1,
      description: 'share of the tasks, users or conversations for the split validation',
    },
    test: {
      type: 'number',
      minimum: 0,
      exclusiveMaximum: 1,
      default: 0.1,
      description: 'the same for the split test',
    },
    nearDuplicates: {
      type: 'number',
      minimum: 0.5,
      maximum: 1,
      description:
        'similarity of the words of the user from which two tasks are duplicates, such as 0.9 (default: only white space may differ)',
    },
  },
} as const;
