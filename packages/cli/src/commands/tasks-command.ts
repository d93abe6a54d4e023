/** `toolenv tasks`: makes tasks for an environment of the conversations that `toolenv capture` has recorded. */

import { createRng, type Tool, ToolEnvError } from '@toolenv/core';
import { loadPlugin } from '@toolenv/core/plugins';
import type {
  ConversationScore,
  DroppedConversations,
  Redaction,
  TrafficOptions,
  TrafficSummary,
} from '@toolenv/dataset';
import { countText, plural } from '../display/number-text.ts';
import { Progress } from '../display/progress.ts';
import { safeLine } from '../display/terminal-text.ts';
import { importPackage, optionalSchema } from '../flags/import-optional.ts';
import { refuseWithout } from '../flags/missing-options.ts';
import { completeFlags, readFlags, schemaFlags } from '../flags/schema-flags.ts';
import { pluginFolders } from '../subject/full-name.ts';
import { importFunction } from '../subject/import-module.ts';
import type { MakeCommand } from './commands.ts';

const ownSchema = {
  type: 'object',
  properties: {
    redact: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      repeated: 'secrets|file',
      description:
        'what rewrites each text: secrets (keys, tokens, passwords and e-mail addresses), or a module whose default export takes a text and returns a text, or null to drop the conversation',
    },
    score: {
      type: 'string',
      minLength: 1,
      description: 'module whose default export takes a conversation and returns its score, or null',
    },
    judge: {
      type: 'string',
      minLength: 1,
      description: 'policy that scores the conversations: openai:<url>#<model>, a reference or a folder',
    },
    judgePrompt: {
      type: 'string',
      minLength: 1,
      default:
        'The material is a conversation of a user with an assistant, which may call tools. Judge how well the assistant did what the user asked for: whether it is right, complete and to the point.',
      description: 'what to judge by',
    },
    judgeCalls: {
      type: 'integer',
      minimum: 0,
      description: 'most requests to the judge (default: no limit)',
    },
    judgeCache: {
      type: 'string',
      minLength: 1,
      description: 'file that keeps the verdicts, so that a repeated command pays for none twice',
    },
    judgeConcurrency: {
      type: 'integer',
      minimum: 1,
      default: 16,
      description: 'requests to the judge at a time',
    },
  },
} as const;

const megabyte = 1e6;

interface Flags extends Record<string, unknown> {
  out: string;
  json?: boolean;
}

export const make: MakeCommand = async (command, { signal }) => {
  const schema = await optionalSchema('traffic');
  command
    .description(
      'Makes tasks of the conversations that toolenv capture has recorded: their first messages and tools, each task once and in one split. Writes a file of JSON lines for each split, which dataset() of @toolenv/dataset loads.',
    )
    .argument('<captured...>', 'JSONL files of toolenv capture, packed by gzip or not')
    .requiredOption('--out <folder>', 'new folder for train.jsonl, validation.jsonl and test.jsonl')
    .option('--json', 'print one JSON object: the counts, and the file of each split');
  for (const flag of [...schemaFlags(schema), ...schemaFlags(ownSchema)]) command.addOption(flag);
  command.action((captured: string[], given: Flags) =>
    makeTasks({ captured, out: given.out, ...readFlags(schema, given), signal }, given),
  );
};

async function makeTasks(options: TrafficOptions, given: Flags): Promise<void> {
  const ofJudge = ['judgePrompt', 'judgeCalls', 'judgeCache', 'judgeConcurrency'];
  refuseWithout(given, Object.fromEntries(ofJudge.map((flag) => [flag, 'judge'])));
  const { redact: named = [], ...scoring } = completeFlags(ownSchema, given);
  const { writeTrafficTasks, redactSecrets } = await importPackage('dataset', 'toolenv tasks');
  const redact: Redaction[] = [];
  for (const name of named)
    redact.push(name === 'secrets' ? redactSecrets : await importFunction<Redaction>(name, '--redact'));
  const scorer = await openScorer(scoring);
  let bar: { stage: string; progress: Progress } | undefined;
  try {
    const summary = await writeTrafficTasks({
      ...options,
      redact,
      score: scorer?.score,
      onProgress({ stage, done, total, conversations }) {
        if (bar?.stage !== stage) {
          bar?.progress.stop();
          bar = { stage, progress: new Progress(stage === 'reading' ? 'reading, MB' : 'scoring', 0) };
        }
        const unit = stage === 'reading' ? megabyte : 1;
        bar.progress.total(Math.ceil(total / unit));
        bar.progress.update(Math.floor(done / unit), plural(conversations, 'conversation'));
      },
    });
    bar?.progress.stop();
    process.stdout.write(`${given.json ? JSON.stringify(summary) : trafficTable(summary)}\n`);
  } finally {
    bar?.progress.stop();
    await scorer?.close();
  }
}

const reasons: Readonly<Record<keyof DroppedConversations, string>> = {
  byRedaction: 'by the redaction',
  withoutQuestion: 'without a message of a user',
  withoutUser: 'without a user',
  withoutTime: 'without a time',
  halfWritten: 'half-written',
};

/** The counts of `toolenv tasks`, and its splits side by side. */
function trafficTable(summary: TrafficSummary): string {
  const { conversations, dropped, duplicates, nearDuplicates, scored, notScored = 0 } = summary;
  const all = Object.values(dropped).reduce((sum, count) => sum + count, 0);
  const why = Object.entries(dropped).flatMap(([reason, count]) =>
    count > 0 ? [`${countText(count)} ${reasons[reason as keyof DroppedConversations]}`] : [],
  );
  const counts = [
    ['duplicates', duplicates, ''],
    ['near-duplicates', nearDuplicates, ''],
    ['dropped', all, why.join(', ')],
    ...(scored === undefined
      ? []
      : [['scored', scored, notScored > 0 ? `${countText(notScored)} not scored` : '']]),
  ] as [string, number, string][];
  const width = Math.max(...counts.map(([, count]) => countText(count).length));
  const lines = counts.map(([name, count, note]) =>
    `  ${name.padEnd(17)}${countText(count).padStart(width)}${note && `  (${note})`}`.trimEnd(),
  );
  return [plural(conversations, 'conversation'), ...lines, '', ...splitRows(summary)].join('\n');
}

function splitRows({ splits }: TrafficSummary): string[] {
  const rows = [
    ['split', 'tasks', 'conversations', 'first', 'last', 'file'],
    ...Object.entries(splits).map(([name, { tasks, conversations, from = '', to = '', file }]) => [
      ...[name, countText(tasks), countText(conversations)],
      ...[from.slice(0, 10), to.slice(0, 10), safeLine(file)],
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows.map((cells) => {
    const padded = cells.map((cell, n) =>
      n === 1 || n === 2 ? cell.padStart(widths[n]!) : cell.padEnd(widths[n]!),
    );
    return padded
      .filter((_, n) => widths[n]! > 0)
      .join('  ')
      .trimEnd();
  });
}

/** Characters that the judge reads of a conversation: the middle of a longer conversation is left out. */
const maxTextLength = 40_000;

/** The flags that say how conversations are scored. */
interface Scoring {
  score?: string;
  judge?: string;
  judgePrompt: string;
  judgeCalls?: number;
  judgeCache?: string;
  judgeConcurrency: number;
}

/**
 * Scores recorded conversations by a function of the user, or by a judge.
 * @throws ToolEnvError `usage.arguments` for both flags, and what opening the judge throws. `undefined` without either flag.
 */
async function openScorer({
  score,
  judge: model,
  judgePrompt,
  judgeCalls: calls,
  judgeCache: cache,
  judgeConcurrency: concurrency,
}: Scoring): Promise<{ score: ConversationScore; close(): Promise<void> } | undefined> {
  if (score !== undefined && model !== undefined)
    throw new ToolEnvError('usage.arguments', '--score and --judge both score: give one of them.');
  if (score !== undefined)
    return { score: await importFunction<ConversationScore>(score, '--score'), close: async () => {} };
  if (model === undefined) return undefined;
  const plugin = await loadPlugin('tools', '@toolenv/judge/judge-v1', { from: pluginFolders() });
  const tool = await plugin.create({ model, calls, cache, concurrency });
  let call = 0;
  return {
    score: ({ text }, { signal }) => verdictOn(tool, { judgePrompt, text, callIndex: call++, signal }),
    close: async () => tool.close?.(),
  };
}

/** `null` if the judge gives no verdict, asked twice. */
async function verdictOn(
  tool: Tool,
  {
    judgePrompt: instructions,
    text,
    callIndex,
    signal,
  }: { judgePrompt: string; text: string; callIndex: number; signal: AbortSignal },
): Promise<number | null> {
  const half = maxTextLength / 2;
  const judged = text.length <= maxTextLength ? text : `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
  const context = { signal, rng: createRng(1, 'tasks', callIndex), episodeId: 'tasks', callIndex };
  try {
    const result = await tool.execute({ instructions, judged, scale: [0, 10] }, context);
    return (Object(result.structuredContent) as { score: number }).score;
  } catch (error) {
    if (ToolEnvError.isInstance(error) && error.code === 'infrastructure.judge_verdict') return null;
    throw error;
  }
}
