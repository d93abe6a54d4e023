/** readExamples: one line of a data file becomes examples, whatever of the known formats it has. */
import { isDeepStrictEqual } from 'node:util';
import { type Message, type Trajectory, turnMessage } from '@toolenv/core';
import { decodeTrajectory } from '@toolenv/core/recording';
import { withoutNulls } from '@toolenv/core/schemas';
import { outcomeScore } from '@toolenv/training';
import { BadExample, type Example } from './example.ts';
import { fieldsOf, parseJson, readMessages, readTools } from './messages.ts';

const formats = 'messages, prompt and completion, text, segments, or a trajectory';

/** Which trajectories are learned from. */
export interface Judged {
  /** Trajectories with a lower score give no examples. Default: all do. */
  minReward?: number | undefined;
  /** The reward component that is the score. Default: the weighted sum of the outcome rewards, as `outcomeScore` has it. */
  judgedBy?: string | undefined;
}

/**
 * The formats, by the fields of the line:
 * - `messages`, with `tools`: TRL's and OpenAI's conversations; assistant messages of `weight` 0 are not learned
 * - `prompt` and `completion`: TRL's, as messages or as plain text; the completion is learned
 * - `text`: TRL's plain text, learned as a whole, with its end
 * - `segments`, each with `text` and `label`: axolotl's; those labelled true are learned, and no end is added
 * - `version`, `steps`, `outcome` …: a trajectory of toolenv
 * @throws BadExample, or ToolEnvError of `decodeTrajectory`.
 */
export function readExamples(
  text: string,
  place: string,
  { minReward = Number.NEGATIVE_INFINITY, judgedBy }: Judged = {},
): Example[] {
  const line = parseLine(text);
  if (line.steps !== undefined) {
    const trajectory = decodeTrajectory(text, place);
    if (judgedBy !== undefined && !Object.hasOwn(trajectory.rewardSpec, judgedBy)) {
      const names = Object.keys(trajectory.rewardSpec);
      throw new BadExample('/rewardSpec', `the reward component "${judgedBy}"`, names);
    }
    const isGood = (outcomeScore(trajectory, judgedBy) ?? minReward) >= minReward;
    return isGood ? trajectoryExamples(trajectory) : [];
  }
  if (line.messages !== undefined) {
    const tools = readTools(line.tools, '/tools');
    const { messages, learned } = readMessages(line.messages, '/messages', { tools });
    const content = { messages, tools };
    return [{ content, learns: (turn) => learned[turn]! }];
  }
  if (line.completion !== undefined) return [readCompletion(line)];
  if (line.text !== undefined) {
    const text = textOf(line.text, '/text');
    return [{ content: { segments: [{ text, learn: true }], ends: true } }];
  }
  if (line.segments !== undefined) return [readSegments(line.segments)];
  throw new BadExample('', `one of the formats ${formats}`, Object.keys(line));
}

/**
 * The fields of a line. Those that are null count as absent, as Arrow fills missing fields, except in the arguments of calls.
 * @throws BadExample
 */
export function parseLine(text: string): Record<string, unknown> {
  return fieldsOf(withoutNulls(parseJson(text, '', 'a line of JSON'), 'arguments'), '');
}

function readCompletion({ prompt, completion, tools }: Record<string, unknown>): Example {
  if (typeof completion === 'string') {
    const segments = [
      { text: textOf(prompt, '/prompt'), learn: false },
      { text: completion, learn: true },
    ];
    return { content: { segments, ends: true } };
  }
  const described = readTools(tools, '/tools');
  const before = readMessages(prompt, '/prompt', { tools: described });
  const after = readMessages(completion, '/completion', { tools: described, before: before.messages });
  const first = before.learned.length;
  const messages = [...before.messages, ...after.messages];
  const content = { messages, tools: described };
  return { content, learns: (turn) => turn >= first && after.learned[turn - first]! };
}

function readSegments(given: unknown): Example {
  if (!Array.isArray(given)) throw new BadExample('/segments', 'a list of segments', given);
  const segments = given.map((each, index) => {
    const { text, label } = fieldsOf(each, `/segments/${index}`);
    if (typeof label !== 'boolean') throw new BadExample(`/segments/${index}/label`, 'true or false', label);
    return { text: textOf(text, `/segments/${index}/text`), learn: label };
  });
  return { content: { segments, ends: false } };
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new BadExample(path, 'text', value);
}

/**
 * One example for as long as the environment appends to a conversation; one more wherever the context was rewritten, which
 * learns the turns from there on. A turn that says `learn: false` is context only. The tokens are made anew from the text, so that any policy can learn from the episode. An
 * aborted episode gives none.
 */
function trajectoryExamples({ steps, outcome }: Trajectory): Example[] {
  if (outcome.kind === 'aborted') return [];
  const conversations: { messages: Message[]; learned: Set<number>; example: Example }[] = [];
  for (const { observation, action, learn } of steps) {
    const { messages: before, tools } = observation;
    const messages = [...before, turnMessage(action)];
    const grown = conversations.findLastIndex(({ messages: past }) =>
      isDeepStrictEqual(withoutEmptyCalls(before.slice(0, past.length)), past),
    );
    const [{ learned } = { learned: new Set<number>() }] = grown < 0 ? [] : conversations.splice(grown, 1);
    if (learn !== false) learned.add(before.filter(({ role }) => role === 'assistant').length);
    const example = { content: { messages, tools }, learns: (at: number) => learned.has(at) };
    conversations.push({ messages: withoutEmptyCalls(messages), learned, example });
  }
  return conversations.filter(({ learned }) => learned.size > 0).map(({ example }) => example);
}

/** An environment may write a turn without calls with an empty list of calls. */
function withoutEmptyCalls(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.toolCalls === undefined || message.toolCalls.length > 0)
      return message;
    const { toolCalls: _, ...rest } = message;
    return rest;
  });
}
