/** modelCard: the README.md of a trained policy, for people and for the Hugging Face Hub. */
import { basename, isAbsolute } from 'node:path';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { scoreLabel } from '@toolenv/training';
import type { RecordedRun, ScoreRow } from '@toolenv/view/recorded';
import { estimateText } from '../display/comparison-table.ts';
import { shellWord } from '../display/terminal-text.ts';
import { flagName } from '../flags/schema-flags.ts';

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
}

/** Without secrets, and without the folders of this machine. */
export function modelCard({ name, config, scores, step, hasAdapter }: CardFacts): string {
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
      shell(commandOf({ ...facts, policy: base })),
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

function commandOf(facts: RunFacts): string {
  const { env, envOptions = {}, policyOptions = {}, trainerOptions = {}, tools = {} } = facts;
  const { checkpoint: _, ...ofPolicy } = policyOptions;
  const named = (key: string, value: unknown) => shellWord(`${key}=${textOf(value)}`);
  const flags = (options: Record<string, unknown>) =>
    Object.entries(options).flatMap(([option, value]) => flagOf(option, value));
  const words = [
    'npx toolenv train',
    ...(env === undefined ? [] : env.split(' + ').map(shellWord)),
    `--policy ${shellWord(String(facts.policy))}`,
    `--trainer ${facts.trainer}`,
    `--seed ${facts.seed}`,
    ...Object.entries(envOptions).map(([key, value]) => `--env-option ${named(key, value)}`),
    ...Object.entries(tools as object).map(([role, tool]) => `--tool ${named(role, tool)}`),
    ...flags(ofPolicy),
    ...flags(trainerOptions),
    '--out runs/again',
  ];
  return words.join(' \\\n  ');
}

function flagOf(option: string, value: unknown): string[] {
  if (value === undefined || value === null || value === false) return [];
  return [value === true ? flagName(option) : `${flagName(option)} ${shellWord(textOf(value))}`];
}

function textOf(value: unknown): string {
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
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
