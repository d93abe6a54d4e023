/** encodeExample: conversations and texts as rows to learn from, in the tokens that the policy would have sampled. */
import type { EncodedRow, Observation, PlainText } from '@toolenv/core';
import type { TokenTurn } from '@toolenv/core/remote';
import { commonPrefix } from '../common-prefix.ts';
import type { Chat } from './chat.ts';

/** @throws ToolEnvError as {@link Chat.action} and {@link Chat.prompt} do. */
export function encodeExample(chat: Chat, example: Observation | PlainText): EncodedRow[] {
  return 'segments' in example ? encodeText(chat, example) : encodeConversation(chat, example);
}

/** Follows the conversation as `act` would, so that a turn has the prompt that it would have in an episode. */
function encodeConversation(chat: Chat, { messages, tools }: Observation): EncodedRow[] {
  const drafts: Draft[] = [];
  let previous: TokenTurn | undefined;
  let number = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const observation = { messages: messages.slice(0, index), tools };
    const rendered = chat.render(observation);
    const continued = previous && chat.continuation(previous, observation, rendered);
    const prompt = continued ?? chat.prompt(observation, rendered);
    const action = chat.action(observation, message, rendered);
    let draft = drafts.at(-1);
    if (!draft?.tokens.every((token, t) => token === prompt[t])) {
      draft = { tokens: [], turns: [] };
      drafts.push(draft);
    }
    add(draft, prompt.subarray(draft.tokens.length), -1);
    add(draft, action, number);
    previous = {
      observation,
      prompt,
      action,
      text: message.content,
      toolCalls: message.toolCalls ?? [],
      ...(message.reasoning !== undefined && { reasoning: message.reasoning }),
    };
    number += 1;
  }
  return drafts.map(toRow);
}

/** The pieces are tokenised as one text. A token across a border belongs to the later piece. */
function encodeText(chat: Chat, { segments, ends }: PlainText): EncodedRow[] {
  const draft: Draft = { tokens: [], turns: [] };
  const whole = chat.encode(segments.map(({ text }) => text).join(''));
  const borders = bordersOf(chat, segments, whole);
  let learned = 0;
  for (const [index, { learn }] of segments.entries())
    add(draft, whole.subarray(draft.tokens.length, borders[index]), learn ? learned++ : -1);
  if (ends) add(draft, chat.endTokens.slice(0, 1), segments.at(-1)?.learn ? learned - 1 : -1);
  // Nothing predicts the first token.
  if (draft.turns.length > 0) draft.turns[0] = -1;
  return draft.turns.some((turn) => turn >= 0) ? [toRow(draft)] : [];
}

/** The position in `whole` at which each piece ends. */
function bordersOf(chat: Chat, segments: PlainText['segments'], whole: Int32Array): number[] {
  const pieces = segments.map(({ text }) => chat.encode(text));
  const joined = pieces.flatMap((piece) => [...piece]);
  let end = 0;
  // Mostly the pieces have the same tokens alone.
  if (joined.length === whole.length && joined.every((token, t) => token === whole[t]))
    return pieces.map(({ length }) => (end += length));
  let before = '';
  return segments.map(({ text }, index) => {
    before += text;
    return index === segments.length - 1 ? whole.length : commonPrefix(chat.encode(before), whole);
  });
}

/** A row while it grows. */
interface Draft {
  tokens: number[];
  turns: number[];
}

function add(draft: Draft, tokens: Iterable<number>, turn: number): void {
  for (const token of tokens) {
    draft.tokens.push(token);
    draft.turns.push(turn);
  }
}

function toRow({ tokens, turns }: Draft): EncodedRow {
  return {
    tokens: Int32Array.from(tokens),
    mask: Uint8Array.from(turns, (turn) => Number(turn >= 0)),
    turns: Int32Array.from(turns),
  };
}
