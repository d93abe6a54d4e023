/** An episode in a terminal: the conversation, what was wrong with calls, what was rewarded, how it ended, how long it took. */

import { isDeepStrictEqual } from 'node:util';
import {
  isParseFailure,
  type Message,
  type Observation,
  type RewardSpec,
  type Rewards,
  type ToolCallRecord,
  type TrajectoryStep,
  type TurnUsage,
  turnUsage,
} from '@toolenv/core';
import { endOf, mistakeOf, type RecordedEpisode } from '@toolenv/view/recorded';
import { dollars } from './comparison-table.ts';
import { paint } from './guarded-output.ts';
import { callView, indented, messageView } from './message-view.ts';
import { countText, plural, scoreText } from './number-text.ts';
import { safeLine } from './terminal-text.ts';
import { contextTokens, sampledTokens } from './token-view.ts';

export interface EpisodeViewOptions {
  width: number;
  /** Shows the tokens: their texts, or their ids if nothing knows the texts. */
  tokens?: { texts?: (ids: Int32Array) => string[] };
}

export function episodeView(episode: RecordedEpisode, options: EpisodeViewOptions): string {
  const { steps } = episode;
  const turns = steps.map((step, index) => turnView(episode, step, index, options));
  return [heading(episode), turns.join('\n\n'), endView(episode)].join('\n');
}

function heading({ step, index, group, sample, episodeId }: RecordedEpisode): string {
  const place = step === undefined ? [] : [`step ${step}`];
  const name = [...place, `episode ${index}`, `task ${group}`, `sample ${sample}`, safeLine(episodeId)].join(
    ' · ',
  );
  return paint('bold', `── ${name} ──`);
}

function turnView(
  { rewardSpec, steps }: RecordedEpisode,
  step: TrajectoryStep,
  index: number,
  { width, tokens }: EpisodeViewOptions,
): string {
  const previous = steps[index - 1];
  const { action, calls, environmentCalls = [] } = step;
  const showsTexts = tokens?.texts !== undefined && action.tokens !== undefined;
  const cut = action.stopReason === 'length' ? paint('yellow', '  cut at the largest number of tokens') : '';
  const parts = showsTexts
    ? []
    : arrived(step.observation, previous?.observation).map((each) =>
        typeof each === 'string' ? paint('yellow', each) : messageView(each, width),
      );
  parts.push(paint('dim', turnLine(step, index)) + cut);
  if (showsTexts) parts.push(tokenTexts(step, previous, tokens.texts!));
  else {
    parts.push(messageView({ role: 'assistant', content: action.text }, width));
    parts.push(...calls.map(({ call }) => callView(call, width)));
    if (calls.length === 0) parts.push(...action.toolCalls.map((call) => callView(call, width)));
    if (tokens) parts.push(tokenIds(step));
  }
  parts.push(...calls.map((record) => recordView(record, { width, isBrief: showsTexts })));
  parts.push(...environmentCalls.map((record) => recordView(record, { width, isBrief: false, isOwn: true })));
  const rewarded = rewardsText(step.rewards ?? {}, rewardSpec);
  if (rewarded !== '') parts.push(`${paint('bold', 'rewarded')}  ${rewarded}`);
  return parts.join('\n');
}

/** `turn 2, prompt of 61 tokens, 14 written` */
function turnLine({ action }: TrajectoryStep, index: number): string {
  const { tokens, usage } = action;
  const counts = tokens
    ? `, prompt of ${plural(tokens.prompt.length, 'token')}, ${countText(tokens.action.length)} written`
    : '';
  return `turn ${index + 1}${counts}${usage ? `, ${usageText(usage)}` : ''}`;
}

/** `120 tokens in (64 cached) and 14 out, $0.0003, 1.2 s` */
function usageText({
  requests,
  inputTokens,
  cachedTokens,
  outputTokens,
  cost,
  milliseconds,
}: TurnUsage): string {
  if (requests === 0) return 'replies from disk, which cost nothing';
  const price = cost === undefined ? '' : `, ${dollars(cost)}`;
  const tokens = `${countText(inputTokens)} tokens in (${countText(cachedTokens)} cached) and ${countText(outputTokens)} out`;
  return `${tokens}${price}, ${(milliseconds / 1000).toFixed(1)} s`;
}

/** The messages that came since the previous turn, apart from that turn's own, or a note that the environment rewrote the past. */
export function arrived({ messages }: Observation, previous: Observation | undefined): (Message | string)[] {
  if (!previous) return messages;
  const before = previous.messages;
  const grows = isDeepStrictEqual(messages.slice(0, before.length), before);
  if (!grows) {
    return [
      `the environment rewrote the conversation: ${before.length + 1} messages and results became ${messages.length}`,
      ...messages,
    ];
  }
  return messages.slice(before.length).filter(({ role }) => role === 'system' || role === 'user');
}

/** A result under the name of its tool, with what was wrong and the time that it took. */
export function recordView(
  record: ToolCallRecord,
  { width, isBrief, isOwn = false }: { width: number; isBrief: boolean; isOwn?: boolean },
): string {
  const { call, text, milliseconds } = record;
  const asker = isOwn ? 'the environment asked ' : 'tool ';
  const name = isParseFailure(call) ? 'call' : `${asker}${safeLine(call.name)}`;
  const code = mistakeOf(record);
  const fault = code === undefined ? '' : `  ${paint('red', `✘ ${code}`)}`;
  const head = `${paint(['bold', 'cyan'], name)}${fault}  ${paint('dim', duration(milliseconds))}`;
  const { screened } = record.result ?? {};
  const parts = [
    ...(text === '' ? [] : [indented(text, width)]),
    ...(screened === undefined
      ? []
      : [paint('dim', indented(`withheld from the policy: ${screened}`, width))]),
  ];
  return isBrief ? head : [head, ...parts].join('\n');
}

/** The tokens of a turn that no earlier turn had. */
function tokenTexts(
  { action }: TrajectoryStep,
  previous: TrajectoryStep | undefined,
  texts: (ids: Int32Array) => string[],
): string {
  const { prompt, action: sampled, logprobs } = action.tokens!;
  const known = previous?.action.tokens;
  const before = known ? [...known.prompt, ...known.action] : [];
  const goesOn = before.every((id, index) => prompt[index] === id);
  const all = texts(Int32Array.of(...prompt, ...sampled));
  const context = contextTokens(all.slice(goesOn ? before.length : 0, prompt.length));
  const note = goesOn
    ? []
    : [paint('yellow', 'the prompt does not begin with the tokens before: a new row for training')];
  return [...note, context + sampledTokens(all.slice(prompt.length), logprobs)].join('\n');
}

function tokenIds({ action }: TrajectoryStep): string {
  if (!action.tokens) return paint('dim', '  no tokens were recorded');
  const { action: sampled, logprobs } = action.tokens;
  return `  ${sampledTokens(
    Array.from(sampled, (id) => ` ${id} `),
    logprobs,
  )}`;
}

export function endView(episode: RecordedEpisode): string {
  const { outcome, reward, rewards, rewardSpec, steps } = episode;
  const sum = rewardsText(rewards, rewardSpec);
  const calls = steps.flatMap((step) => step.calls);
  const written = steps.reduce((total, { action }) => total + (action.tokens?.action.length ?? 0), 0);
  const tools = calls.reduce((total, { milliseconds }) => total + milliseconds, 0);
  const asked = turnUsage([{ steps }]);
  const counts = [
    plural(steps.length, 'turn'),
    plural(calls.length, 'call'),
    `${plural(written, 'token')} written`,
    `tools took ${duration(tools)}`,
    ...(asked ? [usageText(asked)] : []),
  ];
  const why =
    outcome.kind === 'aborted'
      ? `\n${indented(outcome.cause.message, Number.POSITIVE_INFINITY, 10)}\n          not scored, and nothing is learned from it`
      : '';
  const colour = outcome.kind === 'terminated' ? 'green' : outcome.kind === 'aborted' ? 'red' : 'yellow';
  return [
    `${paint('bold', 'end')}       ${paint(colour, safeLine(endOf(episode)))}${why}`,
    `${paint('bold', 'reward')}    ${paint('bold', scoreText(reward))}${sum === '' ? '' : ` from ${sum}`}`,
    paint('dim', `          ${counts.join(', ')}`),
  ].join('\n');
}

/** `retrieved 0.500 × 0.1 · em 0.000 × 1 · f1 0.250`: components that do not count come last, without a weight. */
export function rewardsText(rewards: Rewards, spec: RewardSpec): string {
  const scored = Object.entries(rewards).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value, weight: spec[name]?.weight ?? 0 }],
  );
  const counts = scored.filter(({ weight }) => weight !== 0);
  const others = scored.filter(({ weight }) => weight === 0);
  return [...counts, ...others].map(rewardText).join(' · ');
}

function rewardText({ name, value, weight }: { name: string; value: number; weight: number }): string {
  const text = `${safeLine(name)} ${scoreText(value)}${weight === 0 ? '' : ` × ${weight}`}`;
  const earned = value * weight;
  if (earned === 0) return paint('dim', text);
  // Blue and yellow, as not everyone tells green from red. What matters more is bold.
  const colour = earned > 0 ? 'cyan' : 'yellow';
  return paint(Math.abs(earned) < 0.5 ? colour : ['bold', colour], text);
}

function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
