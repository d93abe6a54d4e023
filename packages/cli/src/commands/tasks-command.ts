/** `toolenv tasks`: makes tasks for an environment of the conversations that `toolenv capture` has recorded. */
import type { Redaction, TrafficOptions } from '@toolenv/dataset';
import { plural } from '../display/number-text.ts';
import { Progress } from '../display/progress.ts';
import { trafficTable } from '../display/traffic-table.ts';
import { importDataset, trafficOptionsSchema } from '../flags/import-optional.ts';
import { refuseWithout } from '../flags/needed-flags.ts';
import { completeFlags, readFlags, schemaFlags } from '../flags/schema-flags.ts';
import { openScorer } from '../run/conversation-scorer.ts';
import { importFunction } from '../subject/import-function.ts';
import type { MakeCommand } from './make-command.ts';

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
  const schema = await trafficOptionsSchema();
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
  const { writeTrafficTasks, redactSecrets } = await importDataset('toolenv tasks');
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
