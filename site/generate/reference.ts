/**
 * What the packages say of themselves: a page for each command and each plugin, from the definitions that make their help, and a page of the
 * metrics.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonSchema } from '@toolenv/core';
import { findPlugin, type PluginTypes, pluginKinds } from '@toolenv/core/plugins';
import { metricNames } from '@toolenv/training';
import { Help, type Option } from 'commander';
import { commands, madeCommand } from '../../packages/cli/src/commands/commands.ts';
import { helpGroup, helpHeadings, helpTexts } from '../../packages/cli/src/flags/command-help.ts';
import { commandOption, envOptionFlags } from '../../packages/cli/src/flags/option-flag.ts';
import { propertiesOf } from '../../packages/cli/src/flags/schema-flags.ts';
import { type Details, detailsOf } from '../../packages/cli/src/subject/plugin-details.ts';
import { repository } from '../pages.ts';

type Kind = keyof PluginTypes;

export interface DeclaredPlugin {
  kind: Kind;
  /** `@toolenv/envs-qa/bridge-v1`. */
  ref: string;
  /** Its page on the site: `reference/envs-qa/bridge-v1.md`. */
  page: string;
  details: Details;
}

/** By kind: the heading of the list, and how a user sets options. */
const kinds: Readonly<Record<Kind, readonly [title: string, use: (ref: string) => string]>> = {
  envs: [
    'Environments',
    (ref) => `\`npx toolenv eval ${ref}\` and other commands take the options as flags.`,
  ],
  policies: ['Policies', (ref) => `With \`--policy ${ref}\`, the options are flags.`],
  trainers: ['Trainers', (ref) => `With \`--trainer ${ref}\`, the options are flags of \`toolenv train\`.`],
  losses: ['Losses', (ref) => `With \`--loss ${ref}\`, the options are flags of \`toolenv train\`.`],
  advantages: [
    'Advantage estimators',
    (ref) => `With \`--advantage ${ref}\`, the options are flags of \`toolenv train\`.`,
  ],
  scorers: ['Scorers', (ref) => `With \`--scorer ${ref}\`, the options are flags of \`toolenv train\`.`],
  tools: ['Tools', (ref) => `\`--tool "<role>=${ref}?<option>=<value>"\` sets options.`],
  sandboxes: ['Sandboxes', (ref) => `\`${ref}?<option>=<value>\` sets options.`],
};

export async function writeReference(generated: string): Promise<void> {
  for (const [page, text] of await referencePages()) {
    mkdirSync(dirname(join(generated, page)), { recursive: true });
    writeFileSync(join(generated, page), `---\neditLink: false\n---\n\n${text}\n`);
  }
}

/** The Markdown of each page, by its place on the site, such as `reference/toolenv-train.md`. */
export async function referencePages(): Promise<Map<string, string>> {
  const plugins = await declaredPlugins();
  const pages = new Map([
    ['reference/index.md', indexPage(plugins)],
    ['reference/metrics.md', metricsPage()],
  ]);
  for (const name of Object.keys(commands)) pages.set(commandPageOf(name), await commandPage(name));
  for (const plugin of plugins) pages.set(plugin.page, pluginPage(plugin));
  return pages;
}

/** The plugins that the manifests of the packages declare. */
export async function declaredPlugins(): Promise<DeclaredPlugin[]> {
  const found: DeclaredPlugin[] = [];
  for (const folder of readdirSync(join(repository, 'packages'))) {
    const json = readFileSync(join(repository, 'packages', folder, 'package.json'), 'utf8');
    const { name, toolenv = {} }: { name: string; toolenv?: Partial<Record<Kind, object>> } =
      JSON.parse(json);
    for (const kind of pluginKinds)
      for (const entry of Object.keys(toolenv[kind] ?? {})) {
        const ref = `${name}/${entry}`;
        const { plugin } = await findPlugin(kind, ref, { from: import.meta.dirname });
        const { options } = plugin;
        const details = { ...detailsOf(plugin), ...(options && { options }) };
        found.push({ kind, ref, page: `reference/${folder}/${entry}.md`, details });
      }
  }
  return found;
}

function commandPageOf(name: string): string {
  return `reference/toolenv-${name}.md`;
}

function indexPage(plugins: readonly DeclaredPlugin[]): string {
  const ofCommands = Object.entries(commands).map(([name, [, summary]]) => [
    `[${name}](/${commandPageOf(name)})`,
    prose(summary),
  ]);
  const ofKind = (kind: Kind) =>
    plugins
      .filter((plugin) => plugin.kind === kind)
      .map(({ ref, page, details }) => [`[${ref}](/${page})`, prose(details.description ?? '')]);
  return page('Commands, plugins and metrics', [
    'Every option of the commands and plugins, as `--help --all` prints them, and [the metrics](/reference/metrics.md) of a run.',
    section('Commands', table(['command', 'what it does'], ofCommands)),
    ...pluginKinds.map((kind) => section(kinds[kind][0], table(['plugin', 'what it is'], ofKind(kind)))),
  ]);
}

/** The sections are the comments of the list. */
function metricsPage(): string {
  const source = readFileSync(join(repository, 'packages/training/src/reports/metric-names.ts'), 'utf8');
  const [, ...sections] = source.slice(source.indexOf('metricNames = {')).split(/^ {2}\/\/ /m);
  const metrics = Object.entries(metricNames);
  return page('Metrics', [
    "All trainers share these names: TRL's name if TRL has the metric, else verl's, else toolenv's. `<component>` stands for the name of a reward, `<tool>` for the name of a tool. With several updates in a step, a metric is their mean.",
    ...sections.map((part) => {
      const own = metrics.splice(0, [...part.matchAll(/^ {2}['\w]/gm)].length);
      const rows = own.map(([name, meaning]) => [code(name), prose(meaning)]);
      return section(part.split('\n')[0]!, table(['metric', 'what it measures'], rows));
    }),
  ]);
}

async function commandPage(name: string): Promise<string> {
  const command = await madeCommand(name);
  const isOfPlugin = ({ helpGroupHeading = '' }: Option) => helpGroupHeading.startsWith('Options of @');
  const own = command.options.filter((option) => !option.hidden && !isOfPlugin(option));
  const args = command.registeredArguments.map((each) => [code(each.name()), prose(each.description)]);
  return page(`toolenv ${name}`, [
    prose(command.description()),
    block(`toolenv ${name} ${commands[name]![0]}`),
    table(['argument', 'meaning'], args),
    command.options.some(isOfPlugin)
      ? 'The options of the [environment, policy and trainer](/reference/index.md) are flags too.'
      : '',
    ...inGroups(
      ['flag', 'meaning'],
      own.map((option) => [option, code(option.flags), helpOf(option)]),
    ),
    section('Examples', block(helpTexts[name]?.examples.join('\n'))),
  ]);
}

function pluginPage({ kind, ref, page: at, details }: DeclaredPlugin): string {
  const { description = '', options = {}, rewards = {}, roles = {}, prompts = {} } = details;
  const [, folder, entry] = /^reference\/([^/]+)\/(.+)\.md$/.exec(at)!;
  const rewardRows = Object.entries(rewards).map(([name, { kind, weight, range }]) => [
    code(name),
    kind,
    String(weight),
    range.join(' to '),
  ]);
  const roleRows = Object.entries(roles).map(([role, tool]) => [code(role), code(tool)]);
  const texts = Object.entries(prompts).map(([name, text]) => `${code(name)}\n\n${block(text)}`);
  return page(entry!, [
    prose(description),
    `${code(ref)} is in the package [${folder}](/packages/${folder}.md). ${kinds[kind][1](ref)}`,
    ...(kind === 'tools' || kind === 'sandboxes' ? [optionTable(options)] : flagTables(kind, options)),
    section('Rewards', table(['reward', 'kind', 'weight', 'range'], rewardRows)),
    section('Tools by role', table(['role', 'tool, unless `--tool` names another'], roleRows)),
    section('Open texts', texts.join('\n\n')),
  ]);
}

/** Options that a reference sets. */
function optionTable(options: JsonSchema): string {
  const rows = Object.entries(propertiesOf(options)).map(([name, property]) => {
    const { default: value, description = '', enum: choices } = property;
    const default_ = value === undefined ? '' : code(String(value));
    return [code(name), default_, prose(choices ? `${choices.join(', ')}: ${description}` : description)];
  });
  return section('Options', table(['option', 'default', 'meaning'], rows));
}

/** Options that are flags. */
function flagTables(kind: Kind, options: JsonSchema): string[] {
  const plain = () =>
    Object.entries(propertiesOf(options)).map(([name, property]) => ({ option: name, name, property }));
  const flags = kind === 'envs' ? envOptionFlags(options) : plain();
  const rows = flags.map((flag): GroupedRow => {
    const option = commandOption(flag);
    return [option, code(flag.option), code(option?.flags ?? ''), option ? helpOf(option) : ''];
  });
  const hasTimes = flags.some(({ property }) => property.milliseconds);
  return [
    hasTimes ? 'A time is in seconds as a flag, and in milliseconds in code.' : '',
    ...inGroups(['option', 'flag', 'meaning'], rows),
  ];
}

/** With the default. */
function helpOf(option: Option): string {
  return prose(new Help().optionDescription(option));
}

type GroupedRow = [option: Option | undefined, ...cells: string[]];

/** A table under each heading of the help. */
function inGroups(head: readonly string[], rows: readonly GroupedRow[]): string[] {
  const headingOf = ([option]: GroupedRow) =>
    helpGroup(option?.long) ?? option?.helpGroupHeading ?? 'Options:';
  const headings = new Set(['Options:', ...helpHeadings, ...rows.map(headingOf)]);
  return [...headings].map((heading) => {
    const own = rows.filter((row) => headingOf(row) === heading).map(([, ...cells]) => cells);
    return section(heading.replace(/:$/, ''), table(head, own));
  });
}

function page(title: string, parts: readonly string[]): string {
  return [`# ${title}`, ...parts.filter(Boolean)].join('\n\n');
}

/** Nothing without a body. */
function section(title: string, body: string): string {
  return body && `## ${title}\n\n${body}`;
}

/** Nothing without rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Nothing without a text. */
function block(text = ''): string {
  return text && `\`\`\`\`text\n${text}\n\`\`\`\``;
}

function code(text: string): string {
  return text && `\`${text.replaceAll('|', '\\|')}\``;
}

/** A text that may have code in backticks, but no other Markdown: `<`, `*` and the like stand for themselves. */
function prose(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? code(part.slice(1, -1)) : escaped(part)))
    .join('');
}

function escaped(text: string): string {
  const entities = { '<': '&lt;', '>': '&gt;', '{': '&#123;' } as Record<string, string>;
  return text.replaceAll(/[<>{]/g, (sign) => entities[sign]!).replaceAll(/[|*_[\]]/g, '\\$&');
}
