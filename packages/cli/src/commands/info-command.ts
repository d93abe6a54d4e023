/** `toolenv info`: what a plugin says of itself, and what an environment shows once it is open. */
import { type EnvDefinition, messageOf, ToolEnvError } from '@toolenv/core';
import { findPlugin, type PluginInfo, type PluginKind, type PluginTypes } from '@toolenv/core/plugins';
import { safeLine, terminalWidth } from '../display/terminal-text.ts';
import { dataHint, flagOf, missingOptions } from '../flags/missing-options.ts';
import { commandOption, envOptionFlags } from '../flags/option-flag.ts';
import { addPluginFlags, envFlags, type PluginFlags } from '../flags/plugin-flags.ts';
import { completeFlags, propertiesOf, schemaFlags } from '../flags/schema-flags.ts';
import {
  type EnvFlags,
  type OpenedDetails,
  openedDetails,
  envFlags as sharedEnvFlags,
} from '../run/open-run.ts';
import { findSubject, importPlugin, packagePlugins, type Subject } from '../subject/find-subject.ts';
import { pluginFolders } from '../subject/full-name.ts';
import { policyReference } from '../subject/load-named.ts';
import { type Details, detailsOf } from '../subject/plugin-details.ts';
import type { MakeCommand } from './commands.ts';
import { detailsView, openedView } from './details-view.ts';

const schema = {
  type: 'object',
  properties: {
    seed: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'seed of the environment and its first episode',
    },
  },
} as const;

type Given = EnvFlags & { json?: boolean } & Record<string, unknown>;

interface Context {
  given: Given;
  env: PluginFlags<'envs'> | undefined;
  signal: AbortSignal;
}

/** A plugin, which has no reference while no package lists it. */
interface Found {
  info: PluginInfo | { kind: PluginKind; module: string };
  plugin: PluginTypes[keyof PluginTypes];
  /** The reference that was given; absent for a module. */
  source?: string;
  /** Folder that the tools of an environment are looked for from. */
  from: string;
}

/** What is known of it. */
interface Report extends Found {
  details: Details;
  /** Options without which the environment cannot be opened. */
  missingOptions: string[];
  opened?: OpenedDetails;
  /** Why the environment could not be opened. */
  failure?: unknown;
}

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Shows the description and the options of a plugin. For an environment, also shows its tasks, its tools and what the model reads first.',
    )
    .argument(
      '<subject>',
      'reference (@toolenv/envs-qa/bridge-v1), package folder, checkpoint folder or module',
    )
    .option('--json', 'print a JSON object; for a package folder, an array');
  for (const flag of [...sharedEnvFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  const { env } = await addPluginFlags(command, words, { anySubject: true });
  command.action((subject: string, given: Given) => info(findSubject(subject), { given, env, signal }));
};

async function info(subject: Subject, context: Context): Promise<void> {
  const { json } = context.given;
  const reports: Report[] = [];
  for await (const found of pluginsOf(subject)) {
    const report = await reportOf(found, context);
    if (!json) process.stdout.write(`${reports.length > 0 ? '\n' : ''}${textOf(report)}\n`);
    reports.push(report);
  }
  const values = reports.map(jsonOf);
  if (json) process.stdout.write(`${JSON.stringify(subject.type === 'package' ? values : values[0])}\n`);
  const failed = reports.find(({ failure }) => failure !== undefined);
  if (failed) throw failed.failure;
}

/** @throws ToolEnvError What loading a plugin throws, and `usage.info` for a subject that is not a plugin. */
async function* pluginsOf(subject: Subject): AsyncGenerator<Found, void, void> {
  const load = async ({ kind, ref }: Pick<PluginInfo, 'kind' | 'ref'>, folder?: string): Promise<Found> => {
    const from = folder ?? process.cwd();
    const loaded = await findPlugin(kind, ref, { from: folder ?? pluginFolders() });
    const { plugin, folder: _, ...info } = loaded;
    return { info, plugin, from, source: ref };
  };
  switch (subject.type) {
    case 'plugin':
      yield await load(subject);
      return;
    case 'checkpoint':
      yield await load({ kind: 'policies', ref: policyReference(subject.folder).ref });
      return;
    case 'module': {
      const { kind, plugin } = await importPlugin(subject.file);
      yield { info: { kind, module: subject.file }, plugin, from: process.cwd() };
      return;
    }
    case 'package': {
      const plugins = packagePlugins(subject.folder);
      if (plugins.length === 0) {
        const message = `${subject.folder} has no plugins: list them in the field "toolenv" of its package.json.`;
        throw new ToolEnvError('usage.info', message);
      }
      for (const plugin of plugins) yield await load(plugin, subject.folder);
      return;
    }
    case 'trajectories':
      throw new ToolEnvError('usage.info', `${subject.file} has episodes: show them with toolenv show.`);
  }
}

async function reportOf(found: Found, context: Context): Promise<Report> {
  const { given, signal } = context;
  const report: Report = { ...found, details: detailsOf(found.plugin), missingOptions: [] };
  if (!isEnv(found)) return report;
  const { seed } = completeFlags(schema, given);
  const options = optionsOf(found.plugin, context);
  report.missingOptions = missingOptions(found.plugin.options, options);
  if (report.missingOptions.length > 0) return report;
  const { source = found.plugin, from } = found;
  try {
    report.opened = await openedDetails({ source, options }, { tool: given.tool, seed, from, signal });
  } catch (failure) {
    signal.throwIfAborted();
    report.failure = failure;
  }
  return report;
}

function isEnv(found: Found): found is Found & { plugin: EnvDefinition } {
  return found.info.kind === 'envs';
}

/** The options of a named environment; of an environment among others in a package, those that it has. */
function optionsOf(definition: EnvDefinition, { env, given }: Context): Record<string, unknown> {
  if (env) return env.given(given);
  const known = propertiesOf(definition.options);
  const envOption = given.envOption?.filter((pair) => Object.hasOwn(known, pair.split('=')[0]!));
  return envFlags(definition.name, definition).given({ envOption });
}

function jsonOf({ info, details, missingOptions, opened, failure }: Report): object {
  return {
    ...info,
    ...details,
    ...opened,
    ...(missingOptions.length > 0 && { missingOptions }),
    ...(failure !== undefined && { error: messageOf(failure) }),
  };
}

const nouns = {
  envs: 'environment',
  tools: 'tool',
  sandboxes: 'sandbox provider',
  trainers: 'trainer',
  losses: 'loss',
  advantages: 'advantage estimator',
  scorers: 'scorer',
  policies: 'policy',
};

function textOf(report: Report): string {
  const { info, details, missingOptions: missing, opened } = report;
  const width = terminalWidth();
  const heading =
    'ref' in info
      ? `${info.ref}  ${nouns[info.kind]}, version ${safeLine(info.version)} of ${ownerOf(info)}`
      : `${safeLine(String(details.name))}  ${nouns[info.kind]} in ${info.module}`;
  const optionFlags = isEnv(report) ? envOptionFlags(report.plugin.options) : [];
  const flags = isEnv(report)
    ? optionFlags.flatMap((flag) => commandOption(flag) ?? [])
    : schemaFlags(details.options ?? {});
  const parts = [detailsView(heading, details, { flags, width })];
  if (missing.length > 0) {
    const given = missing.map((name) => flagOf(name, optionFlags)).join(' and ');
    const data = 'ref' in info && isEnv(report) ? dataHint(info.ref, report.plugin, missing) : '';
    parts.push(`Give ${given} to see its tasks, its tools and what the model reads first.${data}`);
  }
  if (opened) parts.push(openedView(opened, width).trimStart());
  return parts.join('\n\n');
}

function ownerOf({ package: name, declaredName }: PluginInfo): string {
  return declaredName === undefined
    ? 'its package'
    : `the package in ${name}, which calls itself "${safeLine(declaredName)}"`;
}
