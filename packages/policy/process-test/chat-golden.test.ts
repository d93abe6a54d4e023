/** Compares chat templates and tokenizers with transformers on 50 conversations with tools (golden/chat/make-golden.py). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { EncodedRow, Message, Observation, ToolCall } from '@toolenv/core';
import { describe, expect, test } from 'vitest';
import { Chat, type TemplateArguments } from '../src/chat/chat.ts';
import { encodeExample } from '../src/chat/encode-example.ts';
import { expectSame } from '../test/expect-same.ts';

interface Family {
  tokenizer: string;
  bos_token: string | null;
  eos_token: string;
  /** Tokens that end a turn. */
  ends: string[];
  encoded: number[][];
  /** The text of each of `encoded` without its first token. */
  decoded: string[];
  /**
   * The text that transformers renders, with the number of its tokens and their digest; or the error of a template
   * that refuses.
   */
  conversations: View[];
}

type View = { text: string; ids: [number, string]; grows: boolean } | { error: string };

const folder = join(import.meta.dirname, '../test/golden/chat');
const conversations: Observation[] = readJson('conversations.json');
const golden: { texts: string[]; families: Record<string, Family> } = readJson('golden.json');

describe.each(Object.entries(golden.families))('%s', (name, family) => {
  const chat = openChat(name, family);

  test('texts have the same token ids', () => {
    for (const [index, text] of golden.texts.entries())
      expect([...chat.encode(text)], JSON.stringify(text)).toEqual(family.encoded[index]);
  });

  test('token ids have the same text', () => {
    // The library's decoder of byte tokens drops byte order marks.
    const shown = (text: string) => (name === 'mistral' ? text.replaceAll('\ufeff', '') : text);
    for (const [index, ids] of family.encoded.entries()) {
      const text = chat.decode(Int32Array.from(ids.slice(1)));
      expect(shown(text), JSON.stringify(golden.texts[index])).toBe(shown(family.decoded[index]!));
    }
  });

  test.each(conversations.map((conversation, index) => [index, conversation] as const))(
    'conversation %d has the same text and the same tokens',
    (index, conversation) => {
      const view = family.conversations[index]!;
      if ('error' in view) {
        expect(() => chat.prompt(conversation)).toThrow(view.error);
        return;
      }
      expect(chat.render(conversation)).toBe(view.text);
      expect(digest(chat.prompt(conversation))).toEqual(view.ids);
    },
  );

  test("a growing conversation keeps its tokens and appends the template's additions", () => {
    let [continued, same] = [0, 0];
    for (const [index, { messages, tools }] of conversations.entries()) {
      const view = family.conversations[index]!;
      if ('error' in view) continue;
      const upTo = (count: number): Observation => ({ messages: messages.slice(0, count), tools });
      const spoken = messages.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []));
      let prompt = spoken.length > 0 ? chat.prompt(upTo(spoken[0]!)) : new Int32Array();
      for (const [turn, position] of spoken.entries()) {
        const observation = upTo(position);
        const before = chat.render(observation);
        const after = chat.render(upTo(position + 1), false);
        // If the template renders a finished turn differently, the model said something else: use only an end token.
        const said = after.startsWith(before) ? [...chat.encode(after.slice(before.length))] : chat.endTokens;
        const end = said.findLastIndex((token) => chat.endTokens.includes(token));
        const action = Int32Array.from(said.slice(0, end + 1));

        const next = upTo(spoken[turn + 1] ?? messages.length);
        const { content: text, toolCalls = [] } = messages[position] as Message & { toolCalls?: ToolCall[] };
        const grown = chat.continuation({ observation, prompt, action, text, toolCalls }, next)!;
        const fresh = chat.prompt(next);
        expectSame(grown.subarray(0, prompt.length), prompt);
        expectSame(grown.subarray(prompt.length, prompt.length + action.length), action);
        const added = grown.subarray(prompt.length + action.length);
        expectSame(fresh.subarray(-added.length), added);
        // The additions follow the end of the last turn.
        const ends = fresh.subarray(0, -added.length).filter((token) => chat.endTokens.includes(token));
        expect(ends.length).toBe(
          family.ends.reduce((count, mark) => count + after.split(mark).length - 1, 0),
        );
        if (view.grows) expectSame(grown, fresh);
        prompt = grown;
        continued += 1;
        same += Number(view.grows);
      }
    }
    expect({ continued, same }).toEqual(growth[name]);
  });

  test('an encoded conversation learns what the model writes, after the prompts that it would have', () => {
    let [learned, read, refused] = [0, 0, 0];
    for (const [index, conversation] of conversations.entries()) {
      if ('error' in family.conversations[index]!) continue;
      const { messages, tools } = conversation;
      const spoken = messages.flatMap((message, at) =>
        message.role === 'assistant' ? [{ message, at }] : [],
      );
      let rows: EncodedRow[];
      try {
        rows = encodeExample(chat, conversation);
      } catch (error) {
        expect(error).toMatchObject({ code: 'usage.chat_template' });
        refused += 1;
        continue;
      }
      for (const [turn, { message, at }] of spoken.entries()) {
        const row = rows.find(({ turns }) => turns.includes(turn))!;
        const [start, end] = [row.turns.indexOf(turn), row.turns.lastIndexOf(turn) + 1];
        // One run of tokens, which ends as a turn of the model ends.
        expect(row.turns.subarray(start, end).every((each) => each === turn)).toBe(true);
        expect(row.mask.subarray(start, end).every((bit) => bit === 1)).toBe(true);
        expect(chat.endTokens).toContain(row.tokens[end - 1]);
        if (turn === 0) {
          const prompt = chat.prompt({ messages: messages.slice(0, at), tools });
          expectSame(row.tokens.subarray(0, start), prompt);
        }
        const written = chat.parse(chat.written(row.tokens.slice(start, end)), tools);
        const shape = (calls: readonly object[] = []) => calls.map((call) => ({ ...call, id: undefined }));
        learned += 1;
        read += Number(isDeepStrictEqual(shape(written.toolCalls), shape(message.toolCalls)));
      }
      expect(rows.flatMap(({ mask }) => [...mask]).filter(Boolean).length).toBe(
        rows.flatMap(({ turns }) => [...turns]).filter((turn) => turn >= 0).length,
      );
    }
    expect({ learned, read, refused }).toEqual(encoded[name]);
  });
});

/** The number of continued turns, and of those in conversations whose past the template never renders differently. */
const growth: Record<string, { continued: number; same: number }> = {
  'qwen2.5': { continued: 167, same: 167 },
  qwen3: { continued: 167, same: 6 },
  llama3: { continued: 150, same: 150 },
  smollm2: { continued: 167, same: 167 },
  mistral: { continued: 167, same: 28 },
};

/**
 * The number of turns that are learned, of those whose calls the format reads back (some messages have marks of calls in
 * them), and of conversations whose template cannot show what the model writes.
 */
const encoded: Record<string, { learned: number; read: number; refused: number }> = {
  'qwen2.5': { learned: 167, read: 161, refused: 0 },
  qwen3: { learned: 167, read: 161, refused: 0 },
  llama3: { learned: 150, read: 150, refused: 0 },
  smollm2: { learned: 9, read: 9, refused: 38 },
  mistral: { learned: 167, read: 164, refused: 0 },
};

/** What Qwen3's template adds to the model's turn with `enable_thinking: false`. */
const noThoughts = '<think>\n\n</think>\n\n';

test("Qwen3's template reads enable_thinking, and its thoughts stay empty as the conversation grows", () => {
  const family = golden.families.qwen3!;
  const chat = openChat('qwen3', family, { enable_thinking: false });
  const thinking = openChat('qwen3', family, { enable_thinking: true });
  let compared = 0;
  for (const [index, conversation] of conversations.entries()) {
    const view = family.conversations[index]!;
    if ('error' in view) continue;
    expect(thinking.render(conversation)).toBe(view.text);
    expect(chat.render(conversation)).toBe(view.text + noThoughts);
    compared += 1;
  }
  expect(compared).toBeGreaterThan(40);

  const observation: Observation = { messages: [{ role: 'user', content: 'Where?' }], tools: [] };
  const prompt = chat.prompt(observation);
  const action = Int32Array.from([...chat.encode('Here.'), chat.endTokens[0]!]);
  const next: Observation = {
    messages: [
      ...observation.messages,
      { role: 'assistant', content: 'Here.' },
      { role: 'user', content: 'And now?' },
    ],
    tools: [],
  };
  const grown = chat.continuation({ observation, prompt, action, text: 'Here.', toolCalls: [] }, next)!;
  const added = `\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\n${noThoughts}`;
  expect([...grown]).toEqual([...prompt, ...action, ...chat.encode(added)]);
});

test.each(['messages', 'add_generation_prompt', 'eos_token'])('the argument %s is refused', (name) => {
  const mistake = () => openChat('qwen3', golden.families.qwen3!, { [name]: true });
  expect(mistake).toThrow(`The template argument "${name}" is set by the policy itself`);
});

function openChat(
  name: string,
  { tokenizer: file, bos_token, eos_token, ends }: Family,
  templateArguments?: TemplateArguments,
): Chat {
  const tokenizer = readJson(`tokenizers/${file}.json`);
  const added: { id: number; content: string }[] = tokenizer.added_tokens;
  const chat_template = readFileSync(join(folder, 'templates', `${name}.jinja`), 'utf8');
  const endTokens = ends.map((end) => added.find(({ content }) => content === end)!.id);
  const tokenizerConfig = { chat_template, bos_token, eos_token };
  return new Chat(
    { folder: name, tokenizer, tokenizerConfig, endTokens },
    { templateArguments, toolPrompt: false },
  );
}

function digest(ids: Int32Array): [number, string] {
  return [ids.length, createHash('sha256').update(ids).digest('hex').slice(0, 16)];
}

function readJson(file: string) {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}
