/** The numbers of an evaluation as a table for people to read. */
import type { ModelUsage, TurnUsage } from '@toolenv/core';
import type { PolicyUsage } from '@toolenv/core/plugins';
import type { Evaluation, Tournament } from '@toolenv/training';
import { scoreLabel } from '@toolenv/training/runs';
import { dollars, estimateText } from './comparison-table.ts';
import { abortText, countText, plural, scoreText, timeText } from './number-text.ts';
import { alignedRows, safeLine } from './terminal-text.ts';

/** Causes of aborted episodes that are shown, and the characters of each. */
const maxCauses = 5;
const maxCauseLength = 400;

/** @param usage What a policy on a server has asked of it. */
export function evaluationTable(evaluation: Evaluation, usage?: PolicyUsage): string {
  const {
    episodes,
    faults = {},
    unscored = 0,
    outcomes,
    toolCalls,
    turns,
    tokens,
    turnUsage,
    toolUsage,
    seconds,
  } = evaluation;
  const ends = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  const rows: [string, string][] = [
    ...scoreRows(evaluation),
    ...(Object.keys(faults).length > 0
      ? [['left out', abortText(faults, episodes)] satisfies [string, string]]
      : []),
    ['tool calls', `${toolCalls.toFixed(2)} per episode`],
    ['turns', `${turns.toFixed(2)} per episode`],
    ['tokens', `${countText(tokens)} generated, ${countText(tokens / seconds)} per second`],
    ...(turnUsage ? [turnUsageRow(turnUsage, episodes)] : []),
    ...(usage ? [usageRow('requests', usage)] : []),
    ...(toolUsage ? [usageRow('asked by tools', toolUsage)] : []),
    [
      'ended',
      ends
        .map(([end, count]) => `${count} ${safeLine(end.replace(':', ', ').replaceAll('_', ' '))}`)
        .join('; ') || '–',
    ],
    [
      'episodes',
      [
        String(episodes),
        ...(unscored > 0 ? [`${unscored} ended without a score`] : []),
        `in ${timeText(seconds)}`,
      ].join(', '),
    ],
  ];
  rows.push(...causeRows(evaluation.causes));
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
}

/** The most frequent causes of aborted episodes, with their counts. */
export function causeRows(causes: Evaluation['causes'] = {}): [string, string][] {
  return Object.entries(causes)
    .slice(0, maxCauses)
    .map(([cause, count]) => ['aborted', `${count} × ${safeLine(cause).slice(0, maxCauseLength)}`]);
}

function usageRow(
  name: string,
  {
    requests,
    retries = 0,
    inputTokens,
    outputTokens,
    cost,
    cachedReplies,
  }: ModelUsage & Partial<PolicyUsage>,
): [string, string] {
  const again = retries > 0 ? `, ${countText(retries)} of them again` : '';
  const price = cost === undefined ? '' : `, ${dollars(cost)}`;
  const tokens = `${countText(inputTokens)} tokens in and ${countText(outputTokens)} out`;
  const kept = cachedReplies === undefined ? '' : `, ${countText(cachedReplies)} replies from disk`;
  return [name, `${countText(requests)}${again}: ${tokens}${price}${kept}`];
}

/** Means over all episodes, those of an earlier run that was resumed included. */
function turnUsageRow(usage: TurnUsage, episodes: number): [string, string] {
  const { inputTokens, cachedTokens, outputTokens, cost, milliseconds } = usage;
  const mean = (sum: number) => countText(sum / episodes);
  const price = cost === undefined ? '' : `, ${dollars(cost / episodes)}`;
  const tokens = `${mean(inputTokens)} tokens in (${mean(cachedTokens)} cached) and ${mean(outputTokens)} out`;
  return ['per episode', `${tokens}${price}, ${(milliseconds / episodes / 1000).toFixed(1)} s`];
}

/** The scores with their confidence intervals. A summary of an earlier version has none. */
function scoreRows({ reward, rewardInterval, means, intervals, pass }: Evaluation): [string, string][] {
  const row = (name: string, ...estimate: Parameters<typeof estimateText>): [string, string] => [
    safeLine(name),
    estimateText(...estimate),
  ];
  const passed = Object.entries(pass?.at ?? {});
  return [
    row('reward', reward, rewardInterval),
    ...Object.entries(means).map(([name, mean]) => row(scoreLabel(name), mean, intervals?.[name])),
    ...passed.map(([k, { mean, interval }]) => row(`${scoreLabel(pass!.score)} pass@${k}`, mean, interval)),
  ];
}

/** What each policy did, and who beats whom. */
export function tournamentTable({ standings, seats, games, aborted, causes, seconds }: Tournament): string {
  const names = Object.keys(standings);
  const rows = [
    ['', 'win rate', 'reward', ...seats.map((seat) => `as ${safeLine(seat)}`)],
    ...Object.entries(standings).map(([name, { winRate, reward, bySeat }]) => [
      safeLine(name),
      estimateText(winRate?.mean, winRate?.interval),
      estimateText(reward?.mean, reward?.interval),
      ...seats.map((seat) => scoreText(bySeat[seat])),
    ]),
  ];
  const pairs = [
    ['wins against', ...names.map(safeLine)],
    ...Object.entries(standings).map(([name, { against }]) => [
      safeLine(name),
      ...names.map((rival) => estimateText(against[rival]?.mean, against[rival]?.interval)),
    ]),
  ];
  const lost = aborted > 0 ? `, ${aborted} of them aborted and not counted` : '';
  const played = [
    ['games', `${plural(games, 'game')}${lost}, in ${timeText(seconds)}`],
    ...causeRows(causes),
  ];
  // Of two policies, the win rates above say all.
  return [rows, ...(names.length > 2 ? [pairs] : []), played].map(tableText).join('\n\n');
}

function tableText(rows: readonly (readonly string[])[]): string {
  return alignedRows(rows)
    .map((line) => `  ${line}`)
    .join('\n');
}
