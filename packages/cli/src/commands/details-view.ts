/** What a plugin says of itself, in a terminal. */
import {
  type EnvCapabilities,
  type EnvLimits,
  maxConcurrency,
  type Prompts,
  type RewardSpec,
  type ToolDescription,
} from '@toolenv/core';
import type { Option } from 'commander';
import { paint } from '../display/guarded-output.ts';
import { messageView, toolSignature } from '../display/message-view.ts';
import { countText, plural, timeText } from '../display/number-text.ts';
import { columns, safeLine, safeText, wrapText } from '../display/terminal-text.ts';
import type { OpenedDetails } from '../run/open-run.ts';
import type { Details } from '../subject/plugin-details.ts';

/** The name of a plugin, and what it says of itself. */
export function detailsView(
  heading: string,
  details: Details,
  { flags, width }: { flags: readonly Option[]; width: number },
): string {
  const { description, rewards, limits, capabilities, prompts, roles, example } = details;
  return [
    paint('bold', heading),
    wrapText(safeText(description ?? 'This plugin does not describe itself.'), { width }),
    ...section(
      'Options',
      columns(
        flags.map((flag) => [flag.flags, safeText(flag.description)]),
        width,
      ),
    ),
    ...(rewards ? section('Rewards', rewardRows(rewards)) : []),
    ...(limits ? section('Limits of an episode', limitRows(limits)) : []),
    ...(capabilities ? section('Capabilities', capabilityRows(capabilities)) : []),
    ...(prompts ? section('Open texts (--prompts <file> takes others)', promptRows(prompts, width)) : []),
    ...(roles
      ? section(
          'Tools by role (--tool <role>=<reference> takes another)',
          columns(Object.entries(roles), width),
        )
      : []),
    ...(example === undefined
      ? []
      : section('Material, as an example', `  ${safeText(JSON.stringify(example))}`)),
  ].join('\n');
}

/** Tasks, tools and the first observation. */
export function openedView(
  { tasks, split, observation, toolTimeouts = {} }: OpenedDetails,
  width: number,
): string {
  const counts = Object.entries(tasks).map(([name, count]) => `${name} ${countText(count)}`);
  const parts = section('Tasks', `  ${counts.join(' · ')}`);
  if (observation) {
    const { tools, messages } = observation;
    const none = '  The model gets no tools.';
    parts.push(
      ...section(
        'Tools',
        tools.map((tool) => toolView(tool, toolTimeouts[tool.name], width)).join('\n') || none,
      ),
    );
    const views = messages.map((message) => messageView(message, width).replace(/^(?=.)/gm, '  '));
    parts.push(...section(`The first task of ${split}, as the model reads it`, views.join('\n')));
  }
  return parts.join('\n');
}

/** Nothing if the section is empty. */
function section(title: string, body: string): string[] {
  return body === '' ? [] : ['', paint('bold', title), body];
}

function rewardRows(rewards: RewardSpec): string {
  const when = { outcome: 'at the end', process: 'at any step' };
  const names = Object.keys(rewards);
  const width = Math.max(...names.map((name) => name.length));
  return Object.entries(rewards)
    .map(([name, { kind, range, weight }]) => {
      const counts = weight === 0 ? 'weight 0: reported, not trained on' : `weight ${weight}`;
      return `  ${safeLine(name).padEnd(width)}  ${kind}, ${when[kind]}; from ${range[0]} to ${range[1]}; ${counts}`;
    })
    .join('\n');
}

/** Each text with its name, whole: it is what a person starts from who writes another. */
function promptRows(prompts: Prompts, width: number): string {
  const rows = Object.entries(prompts).map(([name, text]) => {
    const body = text === '' ? '(empty)' : safeText(text);
    return `  ${paint('cyan', safeLine(name))}\n${wrapText(body, { width, indent: '    ' })}`;
  });
  return rows.join('\n');
}

function limitRows({ maxTurns, maxCallsPerTurn, toolTimeout, maxToolCharacters }: EnvLimits): string {
  return [
    `  ${plural(maxTurns, 'turn')}, ${plural(maxCallsPerTurn, 'tool call')} in each`,
    `  ${duration(toolTimeout)} for a tool call, ${plural(maxToolCharacters, 'character')} of its result`,
  ].join('\n');
}

function capabilityRows({ seedable, concurrent, networked, remote }: Required<EnvCapabilities>): string {
  const atOnce = maxConcurrency({ concurrent });
  const rows = [
    `  ${seedable ? 'repeats from a seed' : 'does not repeat from a seed'}`,
    `  plays ${atOnce === 1 ? 'one episode at a time' : `${Number.isFinite(atOnce) ? `up to ${atOnce}` : 'any number of'} episodes at once`}`,
    `  ${networked ? 'connects to servers' : 'needs no network'}`,
  ];
  return [...rows, ...(remote ? ['  is the client of a served environment'] : [])].join('\n');
}

function toolView(tool: ToolDescription, timeout: number | undefined, width: number): string {
  const properties = (tool.inputSchema.properties ?? {}) as Record<
    string,
    { type?: unknown; description?: string }
  >;
  const rows = Object.entries(properties).map(([name, schema]) => {
    const { type, description = '' } = Object(schema) as { type?: unknown; description?: string };
    const kind = [type ?? 'any'].flat().join(' or ');
    return [`  ${safeLine(name)}`, safeText(`${kind}${description ? `: ${description}` : ''}`)] as const;
  });
  const head = `  ${paint('cyan', safeLine(toolSignature(tool)))}`;
  const text = wrapText(safeText(tool.description.trim()), { width, indent: '    ' });
  const most = timeout === undefined ? [] : [`    ${duration(timeout)} for a call`];
  return [head, text, ...most, ...(rows.length > 0 ? [columns(rows, width)] : [])].join('\n');
}

function duration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return 'any time';
  return milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${timeText(milliseconds / 1000)} minutes`;
}
