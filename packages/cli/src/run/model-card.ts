/** modelCard: the README.md of a trained policy, for people and for the Hugging Face Hub. */
import { basename, isAbsolute } from 'node:path';
import type { JsonSchema } from '@toolenv/core';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { scoreLabel } from '@toolenv/training/runs';
import type { RecordedRun, ScoreRow } from '@toolenv/view/recorded';
import { estimateText } from '../display/comparison-table.ts';
import { shellWord } from '../display/terminal-text.ts';
import { flagsOf, pairsOf } from '../flags/schema-flags.ts';

type RunFacts = RecordedRun['facts'];

export interface CardFacts {
  /** `owner/name` of the repository. */
  name: string;
  /** config.json of the run. */
  config: RunFacts;
  /** Validation before and after. */
  scores: readonly ScoreRow[];
  /** The step of the policy. */
  step: number;
  /** Whether the adapter is in the repository too. */
  hasAdapter: boolean;
  /** Schemas of the options, by which the command that repeats the run names those that are not their defaults. */
  schemas: {
    env?: JsonSchema | undefined;
    policy?: JsonSchema | undefined;
    trainer?: JsonSchema | undefined;
  };
}

/** Without secrets, and without the folders of this machine. */
export function modelCard({ name, config, scores, step, hasAdapter, schemas }: CardFacts): string {
  const facts = published(config) as RunFacts;
  const { env, trainer, seed } = facts;
  const base = baseOf(facts);
  const isOfHub = facts.revision !== undefined;
  const head = [
    '---',
    ...(isOfHub ? [`base_model: ${base.split('@')[0]}`] : []),
    'library_name: transformers',
    'pipeline_tag: text-generation',
    'tags: [toolenv, reinforcement-learning, tool-use]',
    '---',
  ];
  const where = env === undefined ? '' : ` in the environment \`${env}\``;
  const trained = `The policy of step ${step}: \`${base}\`, trained by \`${trainer}\`${where} with [toolenv](https://www.npmjs.com/package/toolenv).`;
  const adapter = hasAdapter
    ? ' The weights have the adapter in them; `adapter/` has it alone, for peft.'
    : '';
  const use =
    env === undefined ? [] : section('Evaluate', [shell(`npx toolenv eval ${env} --policy ${name}`)]);
  return `${[
    ...head,
    '',
    `# ${name}`,
    '',
    `${trained}${adapter}`,
    ...section('Scores', scoreLines(scores)),
    ...use,
    ...section('Repeat', [
      shell(commandOf({ ...facts, policy: base }, schemas)),
      '',
      `Seed ${seed}. ${versions(facts)}`,
    ]),
    ...section('Options', ['```json', JSON.stringify(optionsOf(facts), null, 2), '```']),
  ].join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', `## ${title}`, '', ...lines];
}

function shell(command: string): string {
  return ['```sh', command, '```'].join('\n');
}

function scoreLines(rows: readonly ScoreRow[]): string[] {
  const [first] = rows;
  if (!first) return ['The run was not evaluated: give `--evaluate-every` to `toolenv train`.'];
  const at = (score: ScoreRow['before']) => (score ? estimateText(score.mean, score.interval) : '–');
  return [
    'Means over validation tasks, with 95 % confidence intervals.',
    '',
    `| score | ${first.before ? `step ${first.before.step} | ` : ''}step ${first.after.step} |`,
    `| --- |${first.before ? ' --- |' : ''} --- |`,
    ...rows.map(
      (row) => `| ${scoreLabel(row.name)} | ${first.before ? `${at(row.before)} | ` : ''}${at(row.after)} |`,
    ),
  ];
}

/** The model that the run began with, at its commit. */
function baseOf({ policy = 'unknown', revision }: RunFacts): string {
  const name = policy.replace(/^hf:/, '').replace(/@.*$/, '');
  return revision === undefined ? policy : `${name}@${String(revision)}`;
}

function optionsOf({ envOptions = {}, policyOptions = {}, trainerOptions = {}, tools }: RunFacts): object {
  const { checkpoint: _, ...ofPolicy } = policyOptions;
  return {
    environment: envOptions,
    ...(tools !== undefined && { tools }),
    trainer: trainerOptions,
    policy: ofPolicy,
  };
}

function commandOf(facts: RunFacts, schemas: CardFacts['schemas']): string {
  const { env, policyOptions = {}, trainerOptions = {}, tools } = facts;
  const envOptions = Object(facts.envOptions) as Record<string, unknown>;
  const { checkpoint: _, ...ofPolicy } = policyOptions;
  const flags = (schema: JsonSchema | undefined, options: Record<string, unknown>) =>
    schema ? flagsOf(schema, options).map((words) => words.map(shellWord).join(' ')) : [];
  const pairs = schemas.env ? pairsOf(schemas.env, envOptions) : [];
  const roles = Object.entries(Object(tools) as Record<string, string>);
  const words = [
    'npx toolenv train',
    // A mix of several.
    ...(env === undefined ? [] : env.split(' + ').map(shellWord)),
    `--policy ${shellWord(String(facts.policy))}`,
    `--trainer ${shellWord(String(facts.trainer))}`,
    `--seed ${facts.seed}`,
    ...pairs.map((pair) => `--env-option ${shellWord(pair)}`),
    ...roles.map(([role, tool]) => `--tool ${shellWord(`${role}=${tool}`)}`),
    ...flags(schemas.policy, ofPolicy),
    ...flags(schemas.trainer, trainerOptions),
    '--out runs/again',
  ];
  return words.join(' \\\n  ');
}

function versions({ packages = {}, node }: RunFacts): string {
  const own = Object.entries(packages).filter(([name]) => name.includes('toolenv'));
  return `Node ${String(node)}; ${own.map(([name, version]) => `${name} ${String(version)}`).join(', ')}.`;
}

/** A copy without secrets, whose absolute paths are the names of their files. */
function published(value: unknown): unknown {
  return JSON.parse(jsonWithoutSecrets(value), (_, each: unknown) =>
    typeof each === 'string' && isAbsolute(each) ? basename(each) : each,
  );
}
