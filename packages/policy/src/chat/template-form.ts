/**
 * TemplateForm: how a chat template takes contents, tools, calls and thoughts. Templates do not say it, so they are tried: a template
 * renders a call of ours, and the format that reads the same call back is the template's format.
 */
import { isDeepStrictEqual } from 'node:util';
import { isParseFailure, type ToolCall, type ToolDescription } from '@toolenv/core';
import {
  callFormats,
  functionTools,
  type ParsedTurn,
  type ThoughtMarks,
  type ToolCallFormat,
  thinkTags,
} from '@toolenv/core/tools';
import { type MessageForm, templateCall, templateContent } from './template-message.ts';

/** Renders messages as the template takes them. Throws if the template refuses them. */
export type RenderMessages = (
  messages: readonly Record<string, unknown>[],
  variables: Record<string, unknown>,
) => string;

/** Where a message's thoughts go. Templates differ in the name. */
const reasoningNames = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** The marks of thoughts that models were trained with. */
const knownMarks: readonly ThoughtMarks[] = [
  thinkTags,
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<mm:think>', close: '</mm:think>' },
  { open: '<think:opensource>', close: '</think:opensource>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<|channel>thought', close: '<channel|>' },
  { open: '<|think|>', close: '<|end|>' },
  { open: '<|channel|>analysis<|message|>', close: '<|end|>' },
  { open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' },
  { open: ' to=self<|message|>', close: '<|eom|>' },
  { open: 'Here are my reasoning steps:', close: '[BEGIN FINAL RESPONSE]' },
];

export interface TemplateForm extends MessageForm {
  /** Whether there may be a system message. */
  hasSystem: boolean;
  /** The name under which the template shows tools; `undefined` if it shows none. */
  toolsName: 'tools' | 'xml_tools' | undefined;
  /** Why there is no format, as the end of a sentence about the template. */
  problem: 'refuses calls' | 'leaves calls out' | 'writes calls that no known format reads' | undefined;
  /** Whether several calls of a turn come back. */
  hasParallelCalls: boolean;
  /** The text with which the template ends a turn. */
  ending: string;
  /** The end of the prompt from which a thought that has not ended, or a call, begins. */
  begun: string;
  /** The end of the prompt with the marks of a thought, ended or not. Templates leave it out of turns that are over. */
  opened: string;
}

/** Texts that no template has. */
const [systemText, userText, answerText, thoughtText] = ['zqSystem', 'zqUser', 'zqAnswer', 'zqThought'];

const probeTools: readonly ToolDescription[] = [
  {
    name: 'zq_weather',
    description: 'Weather of a city.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'City' },
        days: { type: 'integer', description: 'Days' },
        code: { type: 'string', description: 'Code' },
        options: { type: 'object', description: 'Options' },
      },
      required: ['city'],
    },
  },
  {
    name: 'zq_add',
    description: 'Adds.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number', description: 'Number' } },
      required: ['a'],
    },
  },
];

const probeCalls: readonly ToolCall[] = [
  {
    id: 'call-0',
    name: 'zq_weather',
    arguments: { city: 'New "York" é', days: 3, code: '007', options: { list: [1, true, 'x'], none: null } },
  },
  { id: 'call-1', name: 'zq_add', arguments: { a: 1.5 } },
];

/**
 * Tries a template.
 * @param source The template's own text.
 * @param ends The texts of the tokens that end a turn, if they are known.
 */
export function templateForm(
  render: RenderMessages,
  source: string,
  ends: readonly string[] = [],
): TemplateForm {
  let isExcessive = false;
  /** What the template makes of the messages; `undefined` if it refuses them. */
  const tried = (messages: readonly Record<string, unknown>[], variables: Record<string, unknown> = {}) => {
    // A template that goes beyond its bounds would do so again.
    if (isExcessive) return undefined;
    try {
      return render(messages, { add_generation_prompt: false, ...variables });
    } catch (error) {
      isExcessive ||= error instanceof RangeError;
      return undefined;
    }
  };
  // A template for conversations with tools may need tools.
  const functions = functionTools(probeTools);
  const has = (text: string, messages: readonly Record<string, unknown>[]) =>
    [{}, { tools: functions }].some((variables) => tried(messages, variables)?.includes(text));
  const takes = (form: TemplateForm['content']) =>
    has(userText, [{ role: 'user', content: templateContent(userText, form) }]);
  const content = !takes('text') && takes('parts') ? 'parts' : 'text';
  const say = (role: string, text: string, more: Record<string, unknown> = {}) => ({
    role,
    content: templateContent(text, content),
    ...more,
  });
  const hasSystem = has(systemText, [say('system', systemText), say('user', userText)]);
  const start = [...(hasSystem ? [say('system', systemText)] : []), say('user', userText)];

  const shows = (variables: Record<string, unknown>) => {
    const shown = tried(start, variables);
    return shown !== undefined && probeTools.every(({ name }) => shown.includes(name));
  };
  const toolsName = (['tools', 'xml_tools'] as const).find((name) => shows({ [name]: functions }));
  const variables = toolsName ? { [toolsName]: functions } : {};

  const opening = behindUser(tried(start, { ...variables, add_generation_prompt: true }) ?? '');
  const answer = (more: Record<string, unknown>) =>
    tried([...start, say('assistant', answerText, more)], variables);
  const { name: reasoningName, thoughts } = findReasoning(answer, source, opening);
  const thoughtAt = opening.indexOf(thoughts.open);
  const opened = thoughtAt < 0 ? '' : opening.slice(thoughtAt);
  const begun = opened.includes(thoughts.close) ? '' : opened;
  const ending = behind(answer({}) ?? '', answerText).trim();

  /** A call may have begun in the prompt, too. */
  const markOf = (format: ToolCallFormat) => format.markers.find((each) => opening.endsWith(each)) ?? '';
  /** The turn that the template writes of calls. */
  const written = new Map<string, string | undefined>();
  const turnOf = (tool_calls: unknown) => {
    const key = JSON.stringify(tool_calls);
    if (!written.has(key)) {
      const whole = tried([...start, say('assistant', '', { tool_calls })], variables);
      const added = whole && addedTurn(behindUser(whole), opening, { begun, opened, thoughts });
      written.set(key, added && withoutEnd(added, [...ends, ending]));
    }
    return written.get(key);
  };
  const readsBack = (format: ToolCallFormat, count: number, given: MessageForm['arguments']) => {
    const calls = probeCalls.slice(0, count);
    const turn = turnOf(calls.map((call) => templateCall(call, format, given)));
    if (turn === undefined) return false;
    const { toolCalls } = format.parse((begun || markOf(format)) + turn, { thoughts, tools: probeTools });
    return isDeepStrictEqual(namesAndArguments(toolCalls), namesAndArguments(calls));
  };
  const found = (['object', 'text'] as const)
    .flatMap((given) => callFormats.map((format) => ({ format, given })))
    .find(({ format, given }) => readsBack(format, 1, given));
  const plain = turnOf([templateCall(probeCalls[0]!, {}, 'object')]);
  const problem = found
    ? undefined
    : plain === undefined
      ? 'refuses calls'
      : plain.includes(probeCalls[0]!.name)
        ? 'writes calls that no known format reads'
        : 'leaves calls out';
  return {
    content,
    hasSystem,
    toolsName,
    format: found?.format,
    problem,
    arguments: found?.given ?? 'object',
    hasParallelCalls: found !== undefined && readsBack(found.format, 2, found.given),
    reasoningName,
    thoughts,
    ending,
    begun: begun || (found ? markOf(found.format) : ''),
    opened,
  };
}

/** A turn up to the first of the texts that end it. */
function withoutEnd(turn: string, ends: readonly string[]): string {
  const found = ends.map((end) => (end === '' ? -1 : turn.lastIndexOf(end))).filter((at) => at >= 0);
  return found.length === 0 ? turn : turn.slice(0, Math.max(...found));
}

function behind(text: string, part: string): string {
  const at = text.lastIndexOf(part);
  return at < 0 ? '' : text.slice(at + part.length);
}

function behindUser(rendered: string): string {
  return behind(rendered, userText);
}

/**
 * What the model writes behind the prompt, by the text of the whole conversation. Templates may leave an empty thought out of turns that
 * are over: the model still has to end a thought that the prompt began.
 */
export function addedTurn(
  whole: string,
  prompt: string,
  { begun, opened, thoughts: { close } }: Pick<TemplateForm, 'begun' | 'opened' | 'thoughts'>,
): string | undefined {
  if (whole.startsWith(prompt)) return whole.slice(prompt.length);
  const spoken = prompt.slice(0, prompt.length - opened.length);
  if (opened === '' || !prompt.endsWith(opened) || !whole.startsWith(spoken)) return undefined;
  const rest = whole.slice(spoken.length);
  const ended = rest.trimStart().startsWith(close);
  if (begun !== '') return ended ? rest : `${close}\n\n${rest.trimStart()}`;
  return ended ? rest.trimStart().slice(close.length) : rest;
}

function findReasoning(
  answer: (more: Record<string, unknown>) => string | undefined,
  source: string,
  opening: string,
): { name: TemplateForm['reasoningName']; thoughts: ThoughtMarks } {
  const name = reasoningNames.find((each) => answer({ [each]: thoughtText })?.includes(thoughtText));
  const turn = name === undefined ? '' : behindUser(answer({ [name]: thoughtText })!);
  const [before, after] = [
    turn.slice(0, Math.max(0, turn.lastIndexOf(thoughtText))),
    behind(turn, thoughtText),
  ];
  const thoughts =
    knownMarks.find(({ open, close }) => before.includes(open) && after.includes(close)) ??
    derivedMarks(turn, opening) ??
    knownMarks.find(({ open }) => opening.includes(open)) ??
    knownMarks.find(({ open, close }) => source.includes(open) && source.includes(close)) ??
    thinkTags;
  return { name, thoughts };
}

/** The texts around a thought, where no known marks are. */
function derivedMarks(turn: string, opening: string): ThoughtMarks | undefined {
  const at = turn.lastIndexOf(thoughtText);
  const end = turn.indexOf(answerText, at);
  const start = turn.startsWith(opening) ? opening.length : opening.trimEnd().length;
  const [open, close] = [turn.slice(start, at).trim(), turn.slice(at + thoughtText.length, end).trim()];
  return end > at && start < at && open !== '' && close !== '' ? { open, close } : undefined;
}

function namesAndArguments(calls: ParsedTurn['toolCalls']): unknown[] {
  return calls.map((call) => (isParseFailure(call) ? call : [call.name, call.arguments]));
}
