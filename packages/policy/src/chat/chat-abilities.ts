/** chatAbilities: what a model can do here, found by rendering with its template and reading back. */
import { isDeepStrictEqual } from 'node:util';
import { type Message, messageOf, type Observation, parsedCalls, type ToolDescription } from '@toolenv/core';
import type { Ability } from '@toolenv/core/plugins';
import type { Chat } from './chat.ts';

const tools: ToolDescription[] = [
  {
    name: 'weather',
    description: 'Weather of a city.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'City' },
        days: { type: 'integer', description: 'Days' },
      },
      required: ['city'],
    },
  },
];
const question: Message = { role: 'user', content: 'Will it rain in Oslo?' };
const calls = [
  { id: 'call-0', name: 'weather', arguments: { city: 'Oslo "North"', days: 2 } },
  { id: 'call-1', name: 'weather', arguments: { city: 'Bergen', days: 1 } },
];
const asked: Observation = { messages: [{ role: 'system', content: 'Be brief.' }, question], tools };

/** In the order in which a reader asks. */
export function chatAbilities(chat: Chat): Ability[] {
  const { thoughts, reasoningName, hasSystem } = chat.form;
  const { value: rendered, why } = attempt(() => chat.render(asked));
  const system = hasSystem ? 'with a system message' : "the system's text begins the user's first message";
  const { value: format, why: problem } = attempt(() => chat.formatName(tools));
  const kept = reasoningName ? '' : ', and the template leaves earlier thoughts out';
  return [
    rendered === undefined ? doesNot('renders', why) : does('renders', system),
    toolsAbility(chat, rendered ?? ''),
    callsAbility(chat, problem ?? `as ${format} writes them`, 1),
    callsAbility(chat, 'several calls of a turn', 2),
    does('thoughts', `between ${thoughts.open} and ${thoughts.close}${kept}`),
    prefixAbility(chat),
  ];
}

function toolsAbility(chat: Chat, rendered: string): Ability {
  if (!chat.toldTools) return does('tools', 'the model knows them: its prompts name none');
  if (!rendered.includes('weather')) return doesNot('tools', 'the prompt does not name them');
  const { toolsName } = chat.form;
  if (!chat.promptsTools)
    return does('tools', `the template shows them${toolsName === 'xml_tools' ? ' as xml_tools' : ''}`);
  return does(
    'tools',
    `${toolsName ? 'as asked' : 'the template shows none'}: the system message describes them`,
  );
}

/** What the tokenizer adds: texts come back, turns end, and texts of tools cannot forge a turn. */
export function tokenizerAbilities(chat: Chat): Ability[] {
  const texts = ['Where does it rise?', 'naïve “東京” 🙂\n\n  two  spaces', '{"a": [1, -2.5e3, null]}'];
  const changed = texts.find((text) => chat.decode(chat.encode(text)).trim() !== text.trim());
  const ends = chat.endTokens.map((token) => chat.vocabulary.get(token) ?? String(token));
  const forged = chat.endTokens.find((token) =>
    chat.encode(`a ${chat.vocabulary.get(token) ?? ''} b`).includes(token),
  );
  return [
    changed === undefined
      ? does('tokenizer', 'texts come back as they were')
      : doesNot(
          'tokenizer',
          `${JSON.stringify(changed)} comes back as ${JSON.stringify(chat.decode(chat.encode(changed)))}`,
        ),
    does('turns end with', ends.join(', ')),
    forged === undefined
      ? does('safe results', 'the text of an end token in a result is text')
      : doesNot(
          'safe results',
          `${chat.vocabulary.get(forged)} in a tool's result becomes the token, as in transformers`,
        ),
  ];
}

function callsAbility(chat: Chat, how: string, count: number): Ability {
  const name = count === 1 ? 'calls' : 'parallel calls';
  const turn: Message = { role: 'assistant', content: '', toolCalls: calls.slice(0, count) };
  const { value: read, why } = attempt(() => chat.parse(chat.written(chat.action(asked, turn)), tools));
  if (!read) return doesNot(name, why);
  const plain = (each: readonly { name: string; arguments: unknown }[]) =>
    each.map(({ name: called, arguments: args }) => [called, args]);
  if (isDeepStrictEqual(plain(parsedCalls(read)), plain(calls.slice(0, count)))) return does(name, how);
  return doesNot(name, 'what the template writes is not read back');
}

/** Whether the next prompt begins with the prompt and the turn. Rollouts keep the sampled tokens in any case. */
function prefixAbility(chat: Chat): Ability {
  const turn: Message = { role: 'assistant', content: '', toolCalls: calls.slice(0, 1) };
  const result: Message = { role: 'tool', content: 'Rain.', toolCallId: 'call-0', name: 'weather' };
  const { value: grows, why } = attempt(() => {
    const prompt = chat.render(asked);
    const text = chat.written(chat.action(asked, turn)).trim();
    const next = chat.render({ ...asked, messages: [...asked.messages, turn, result] });
    return next.startsWith(prompt) && next.slice(prompt.length).trimStart().startsWith(text);
  });
  if (grows === undefined) return doesNot('prefix', why);
  return grows
    ? does('prefix', 'the next prompt continues the last turn')
    : doesNot('prefix', 'the template rewrites earlier turns; sampled tokens are kept');
}

function does(name: string, how: string): Ability {
  return { name, does: true, how };
}

function doesNot(name: string, how: string): Ability {
  return { name, does: false, how };
}

/** The value, or why there is none. */
function attempt<T>(work: () => T): { value: T; why?: undefined } | { value?: undefined; why: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { why: messageOf(error) };
  }
}
