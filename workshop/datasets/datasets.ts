/** `npm run datasets`: writes files in the formats of published datasets from a synthetic world, for tests and to train on. */
import {
  bridgeQuestions,
  comparisonQuestions,
  composeQuestions,
  lookupQuestions,
  type QuestionFamily,
} from '@toolenv/envs-qa';
import { parseFlags, runAsProcess } from 'toolenv';
import { writeDatasets } from './write-datasets.ts';

const families: Readonly<Record<string, QuestionFamily>> = {
  bridge: bridgeQuestions,
  compose: composeQuestions,
  comparison: comparisonQuestions,
  lookup: lookupQuestions,
};

const schema = {
  type: 'object',
  properties: {
    out: { type: 'string', default: 'runs/datasets', description: 'folder of the files' },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'seeds the world and its questions' },
    questions: {
      enum: ['bridge', 'compose', 'comparison', 'lookup', 'all'],
      default: 'bridge',
      description: 'family of the questions',
    },
    train: { type: 'integer', minimum: 1, default: 4000, description: 'training questions of a family' },
    dev: { type: 'integer', minimum: 1, default: 400, description: 'validation questions of a family' },
    test: { type: 'integer', minimum: 1, default: 800, description: 'test questions of a family' },
  },
} as const;

await runAsProcess(async () => {
  const given = await parseFlags(schema, {
    name: 'datasets',
    description: 'Writes files in the formats of published datasets from a synthetic world.',
    argv: process.argv.slice(2),
  });
  if (!given) return;
  const { out, seed, questions, train, dev, test } = given;
  const asked = questions === 'all' ? Object.values(families) : [families[questions]!];
  const paths = await writeDatasets(out, asked, { seed, counts: { train, validation: dev, test } });
  process.stdout.write(`${paths.join('\n')}\n`);
});
