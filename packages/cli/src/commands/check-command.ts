/** `toolenv check`: checks a plugin, a package, a checkpoint or a file of trajectories against the rules of the spec. */
import { ToolEnvError } from '@toolenv/core';
import { type CertificateReport, type Report, type RuleId, rules } from '@toolenv/testing';
import { Option } from 'commander';
import { CheckProgress, reportView } from '../display/report-view.ts';
import { trainersView } from '../display/trainers-view.ts';
import { addPluginFlags } from '../flags/plugin-flags.ts';
import { completeFlags, parseJson, schemaFlags } from '../flags/schema-flags.ts';
import { writeCertificates } from '../run/certificate-files.ts';
import { checkSubject } from './check-subject.ts';
import { checkTrainers } from './check-trainers.ts';
import type { MakeCommand } from './commands.ts';

interface OwnFlags {
  json?: boolean;
  option?: string[];
  skip?: string[];
  material?: string;
  adversarial?: boolean;
  certificate?: string;
  trainers?: string[] | true;
}

const schema = {
  type: 'object',
  properties: {
    seed: { type: 'integer', minimum: 0, default: 1, description: 'seed of the subject and the check' },
    actions: { type: 'integer', minimum: 1, default: 1000, description: 'number of fuzzed actions or calls' },
    timeout: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 10,
      description: 'longest time for an answer, in seconds',
    },
    panel: {
      type: 'integer',
      minimum: 4,
      default: 32,
      description: 'tasks that the players of --adversarial play, from all splits',
    },
    learnable: {
      type: 'number',
      exclusiveMinimum: 0,
      description:
        'with --adversarial, also train a policy on the episodes of the oracle for this many minutes: it must then earn more in test tasks',
    },
    policy: {
      type: 'string',
      default: 'node_modules/@toolenv/checkpoints/small',
      description: 'checkpoint that --learnable trains, and that --trainers compares trainers with',
    },
  },
} as const;

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Checks a subject against the rules of the spec (spec/v1.md of @toolenv/core) and says how to fix it. Exit code 1 if a rule is broken or there is a warning.',
    )
    .argument(
      '<subject>',
      'reference (@toolenv/envs-qa/bridge-v1), package folder, checkpoint folder, hf:<owner>/<name>, module or .jsonl file',
    )
    .option('--json', 'print one JSON array of reports')
    .option(
      '--option <key=value...>',
      'set options of the environment, policy or trainer; the options of an environment are also flags',
    )
    .option('--material <json>', "make the tool from this material, instead of its example's")
    .option(
      '--adversarial',
      'also play each environment with players that do none of its work: their rewards must stay far below those of the oracle, and no answer may leak',
    )
    .option(
      '--certificate <folder>',
      'with --adversarial, write a certificate (JSON) and a badge (SVG) for each environment that passes, and show the badges in the README of a package',
    )
    .addOption(
      new Option(
        '--trainers [reference...]',
        'instead of rules, compare the first step of these trainers, or of all that are installed, in an environment: whether each sees the same episodes and rewards, and from which tokens it learns',
      ).conflicts(['adversarial', 'certificate', 'learnable']),
    )
    .option('--skip <rule...>', 'do not check these rules and warnings');
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  const { env } = await addPluginFlags(command, words, { anySubject: true });
  command.action((subject: string, given: OwnFlags & Record<string, unknown>) =>
    check(subject, given, env?.given(given) ?? {}, signal),
  );
};

async function check(
  subject: string,
  given: OwnFlags & Record<string, unknown>,
  envOptions: Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  const { seed, actions, timeout, panel, learnable, policy } = completeFlags(schema, given);
  const { certificate: folder, adversarial = folder !== undefined || learnable !== undefined } = given;
  const reports: (Report | CertificateReport)[] = [];
  const progress = new CheckProgress(actions);
  if (given.trainers !== undefined) {
    const names = given.trainers === true ? [] : given.trainers;
    const onTrainer = (name: string, done: number, total: number) => progress.trainers(name, done, total);
    const run = { policy, seed, signal, envOptions, pairs: given.option ?? [], onTrainer };
    const shares = await checkTrainers(subject, names, run).finally(() => progress.stop());
    process.stdout.write(`${given.json ? JSON.stringify(shares) : trainersView(shares)}\n`);
    if (shares.some(({ differences }) => differences.length > 0)) process.exitCode = 1;
    return;
  }
  const options = {
    seed,
    actions,
    timeout: timeout * 1000,
    pairs: given.option ?? [],
    envOptions,
    material: readMaterial(given.material),
    skip: readRules(given.skip),
    signal,
    onRules: (checked: readonly RuleId[], name: string) => progress.rules(checked, name),
    onActions: (done: number) => progress.actions(done),
    panelTasks: adversarial ? panel : undefined,
    learning: learnable === undefined ? undefined : { minutes: learnable, policy },
    onStatus: (status: string, share: number) => progress.learning(status, share),
    onPlayer: (player: string, done: number, total: number) => progress.players(player, done, total),
  };
  try {
    for await (const report of checkSubject(subject, options)) {
      reports.push(report);
      progress.stop();
      if (!given.json) process.stdout.write(`${reportView(report)}\n`);
    }
  } finally {
    progress.stop();
  }
  const files = folder === undefined ? [] : await writeCertificates(folder, reports, subject);
  if (given.json) process.stdout.write(`${JSON.stringify(reports)}\n`);
  else for (const file of files) process.stdout.write(`${file}\n`);
  if (reports.some(({ ok, warnings }) => !ok || warnings.length > 0)) process.exitCode = 1;
}

function readRules(ids: readonly string[] = []): RuleId[] {
  const unknown = ids.find((id) => !Object.hasOwn(rules, id));
  if (unknown === undefined) return ids as RuleId[];
  throw new ToolEnvError('usage.bad_flag', `--skip ${unknown}: give the id of a rule, such as ENV-11.`);
}

function readMaterial(text: string | undefined): unknown {
  const material = text === undefined ? undefined : parseJson(text);
  if (text === undefined || material !== undefined) return material;
  throw new ToolEnvError('usage.bad_flag', `--material ${text}: give JSON.`);
}
