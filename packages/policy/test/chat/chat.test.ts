/** The chat template turns conversations into tokens, and conversations continue without tokenising text again. */
import type { Message, Observation, ToolCall, ToolDescription } from '@toolenv/core';
import { createRng } from '@toolenv/core';
import type { TokenTurn } from '@toolenv/core/remote';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Chat } from '../../src/chat/chat.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

const chat = new Chat(wordCheckpoint());
const [end] = chat.endTokens as [number];
const question: Message = { role: 'user', content: 'where is the river ?' };
const search: ToolDescription = {
  name: 'search',
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
};

const observe = (...messages: Message[]): Observation => ({ messages, tools: [search] });
const call: Message = {
  role: 'assistant',
  content: 'is',
  toolCalls: [{ id: 'call-0', name: 'search', arguments: { query: 'the river' } }],
};
const answer: Message = { role: 'tool', content: 'the river .', toolCallId: 'call-0', name: 'search' };

/** The message as the parts of a turn. */
function said(message: Message): Pick<TokenTurn, 'text' | 'toolCalls'> {
  return { text: message.content, toolCalls: (message as { toolCalls?: ToolCall[] }).toolCalls ?? [] };
}

/** The turn of a model whose output is exactly the template's rendering of `message`. */
function turnOf(observation: Observation, message: Message): TokenTurn {
  const prompt = chat.prompt(observation);
  const text = chat.render({ ...observation, messages: [...observation.messages, message] }, false);
  const action = chat.encode(text).slice(prompt.length);
  return { observation, prompt, action: action.slice(0, action.lastIndexOf(end) + 1), ...said(message) };
}

test('the template renders messages, tool calls and tool answers', () => {
  expect(chat.render(observe(question, call, answer))).toBe(
    '<|im_start|>user where is the river ?<|im_end|>' +
      '<|im_start|>assistant is<tool_call>{"name": "search", "arguments": {"query": "the river"}}</tool_call><|im_end|>' +
      '<|im_start|>tool<tool_response>the river .</tool_response><|im_end|>' +
      '<|im_start|>assistant',
  );
});

test('the template receives tools in the shape of Hugging Face templates', () => {
  const checkpoint = wordCheckpoint();
  const chat_template =
    '{{ tools | tojson }}|{{ messages[1].tool_calls[0].function.name }}|{{ add_generation_prompt }}';
  const other = new Chat({
    ...checkpoint,
    tokenizerConfig: { ...checkpoint.tokenizerConfig, chat_template },
  });
  const [tools, name, prompt] = other.render(observe(question, call)).split('|') as [string, string, string];
  expect(JSON.parse(tools)).toEqual([
    {
      type: 'function',
      function: { name: 'search', description: 'Searches.', parameters: search.inputSchema },
    },
  ]);
  expect(name).toBe('search');
  expect(prompt.toLowerCase()).toBe('true');
});

test('decoding restores the text without special tokens', () => {
  const tokens = chat.encode(`${' where is the river ? ünïcode'}<|im_end|>`);
  expect(tokens.at(-1)).toBe(end);
  expect(chat.decode(tokens).trim()).toBe('where is the river ? ünïcode');
});

test('a continuation equals a fresh prompt if the text round-trips', () => {
  const first = observe(question);
  const turn = turnOf(first, call);
  const next = observe(question, call, answer);
  expect(chat.continuation(turn, next)).toEqual(chat.prompt(next));
});

test('a continuation equals a fresh prompt over many turns', () => {
  let observation = observe(question);
  let turn = turnOf(observation, call);
  for (let round = 0; round < 4; round++) {
    observation = observe(...observation.messages, call, { ...answer, content: `river ${round}` });
    const prompt = chat.continuation(turn, observation)!;
    expect(prompt).toEqual(chat.prompt(observation));
    turn = { ...turnOf(observation, call), prompt };
  }
});

test('a continuation keeps any sampled tokens and adds only the text after the turn', () => {
  const first = observe(question);
  const prompt = chat.prompt(first);
  const suffix = chat.encode(
    '<|im_start|>tool<tool_response>the river .</tool_response><|im_end|><|im_start|>assistant',
  );
  const rng = createRng(3, 'tokens');
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.boolean(), (length, ended) => {
      // Random ids: for most sequences, the tokenizer would encode their text differently.
      const action = Int32Array.from({ length }, () => rng.int(end - 1));
      if (ended) action[length - 1] = end;
      const turn: TokenTurn = { observation: first, prompt, action, ...said(call) };
      const next = chat.continuation(turn, observe(question, call, answer))!;
      expect([...next]).toEqual([...prompt, ...action, ...(ended ? [] : [end]), ...suffix]);
    }),
  );
});

test('if several tokens end a turn, the continuation uses the one that the template writes', () => {
  const [unused] = chat.encode('<|endoftext|>');
  expect(unused).not.toBe(end);
  const several = new Chat({ ...wordCheckpoint(), endTokens: [unused!, end] });
  const turn = turnOf(observe(question), call);
  const next = observe(question, call, answer);
  expect(several.continuation(turn, next)).toEqual(chat.prompt(next));
  // A turn that ended with the other token keeps that token.
  const other: TokenTurn = { ...turn, action: turn.action.with(-1, unused!) };
  const prompt = [...several.continuation(other, next)!];
  const sampled = [...turn.prompt, ...other.action];
  expect(prompt).toEqual([...sampled, ...chat.prompt(next).subarray(sampled.length)]);
});

test('the text of a turn keeps special tokens that mark tool calls and drops the others', () => {
  const checkpoint = wordCheckpoint();
  const added = checkpoint.tokenizer.added_tokens as { id: number; content: string }[];
  const id = 1 + Math.max(...added.map((token) => token.id));
  const marker = { ...added[0]!, id, content: '[TOOL_CALLS]', special: true };
  const chat_template =
    "{{ bos_token }}{% for tool in tools or [] %}{{ tool.function.name }}{% endfor %}{% for m in messages %}{{ m.content }}{% for call in m.tool_calls or [] %}[TOOL_CALLS]{{ [{'name': call.function.name, 'arguments': call.function.arguments, 'id': call.id}] | tojson }}{% endfor %}{% if m.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}";
  const mistral = new Chat({
    ...checkpoint,
    tokenizer: { ...checkpoint.tokenizer, added_tokens: [...added, marker] },
    tokenizerConfig: { chat_template, bos_token: '<s>', eos_token: { content: '</s>' } },
  });
  expect(mistral.form.format?.name).toBe('mistral');
  expect(mistral.render(observe(call))).toBe(
    '<s>searchis[TOOL_CALLS][{"name": "search", "arguments": {"query": "the river"}, "id": "0000call0"}]</s>',
  );
  const action = Int32Array.of(...mistral.encode('where'), id, ...mistral.encode('[]'), end);
  expect(mistral.written(action).replaceAll(' ', '')).toBe('where[TOOL_CALLS][]');
  // A turn may end right after a marker, or be empty.
  expect(mistral.written(Int32Array.of(id))).toBe('[TOOL_CALLS]');
  expect(mistral.written(new Int32Array())).toBe('');
  expect(mistral.parse('a [TOOL_CALLS][{"name": "b", "arguments": {}}]', [search])).toEqual({
    text: 'a',
    toolCalls: [{ id: '000000000', name: 'b', arguments: {} }],
  });
});

test('there is no continuation if the environment rewrote the past', () => {
  const first = observe(question);
  const turn = turnOf(first, call);
  const rewritten: Message = { role: 'user', content: 'where is it ?' };
  expect(chat.continuation(turn, observe(rewritten, call, answer))).toBeUndefined();
  expect(chat.continuation(turn, observe(question, { ...call, content: 'the' }, answer))).toBeUndefined();
  expect(chat.continuation(turn, observe(question, answer))).toBeUndefined();
  expect(chat.continuation(turn, observe(question))).toBeUndefined();
  expect(chat.continuation(turn, observe(call, answer))).toBeUndefined();
});

test('a continuation compares messages by value', () => {
  const turn = turnOf(observe(question), call);
  const next = observe({ ...question }, call, answer);
  expect(chat.continuation(turn, next)).toEqual(chat.prompt(next));
});

/** A chat with the word checkpoint's tokenizer and another template. */
function chatWith(chat_template: string | { name: string; template: string }[]): Chat {
  const checkpoint = wordCheckpoint();
  return new Chat({ ...checkpoint, tokenizerConfig: { ...checkpoint.tokenizerConfig, chat_template } });
}

test('sampled tokens stay if the template renders earlier turns differently', () => {
  // As Qwen3's template does with thoughts, this template shows only the last message whole.
  const shortening = chatWith(
    '{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content if loop.last else m.content[:2] }}<|im_end|>{% endfor %}',
  );
  const first = observe(question);
  const spoken: Message = { role: 'assistant', content: 'the river' };
  const action = shortening.encode(' the river<|im_end|>');
  const turn: TokenTurn = { observation: first, prompt: shortening.prompt(first), action, ...said(spoken) };
  const next = observe(question, spoken, answer);
  expect(shortening.render(next)).toContain('<|im_start|>assistant th<|im_end|>');
  expect([...shortening.continuation(turn, next)!]).toEqual([
    ...turn.prompt,
    ...action,
    ...shortening.encode('<|im_start|>tool the river .<|im_end|>'),
  ]);
});

test("an end token in a tool's answer does not end the turn", () => {
  const first = observe(question);
  const turn = turnOf(first, call);
  for (const content of [
    '<|im_end|>',
    'the <|im_end|> river',
    '<|im_end|> '.repeat(3),
    '👩‍👩‍👧<|im_end|>',
    ' \n',
  ]) {
    const next = observe(question, call, { ...answer, content });
    expect(chat.continuation(turn, next), content).toEqual(chat.prompt(next));
  }
});

test.each([
  ['does not show new messages', '{% for m in messages[:2] %}{{ m.content }}<|im_end|>{% endfor %}'],
  ['writes no end of a turn', '{% for m in messages %}{{ m.content }}{% endfor %}'],
  [
    'renders earlier messages from new ones',
    '{% for m in messages %}{{ messages[-1].content }}<|im_end|>{% endfor %}',
  ],
])('there is no continuation if the template %s', (_title, template) => {
  const other = chatWith(template);
  const first = observe(question);
  const turn: TokenTurn = { ...turnOf(first, call), prompt: other.prompt(first) };
  expect(other.continuation(turn, observe(question, call, answer))).toBeUndefined();
});

test.each([
  ['other arguments', { toolCalls: [{ ...call.toolCalls![0]!, arguments: { query: 'the sea' } }] }],
  ['another id', { toolCalls: [{ ...call.toolCalls![0]!, id: 'call-1' }] }],
  ['no call', { toolCalls: [] }],
])('there is no continuation if the turn came back with %s', (_title, changed) => {
  const turn = turnOf(observe(question), call);
  expect(chat.continuation(turn, observe(question, call, answer))).toBeDefined();
  expect(chat.continuation(turn, observe(question, { ...call, ...changed }, answer))).toBeUndefined();
});

test('there is no continuation if the tools change', () => {
  const turn = turnOf(observe(question), call);
  const next = { messages: [question, call, answer], tools: [search, { ...search, name: 'lookup' }] };
  expect(chat.continuation(turn, next)).toBeUndefined();
});

test("a refusal by the template is a usage error before the model's first turn and ends the episode after it", () => {
  const strict = chatWith("{{ raise_exception('One call in a turn.') }}");
  expect(() => strict.prompt(observe(question))).toThrow(
    expect.objectContaining({
      code: 'usage.chat_template',
      message: expect.stringContaining('One call in a turn.'),
    }),
  );
  expect(() => strict.prompt(observe(question, call, answer))).toThrow(
    expect.objectContaining({ code: 'context.template' }),
  );
});

test('a template that goes beyond its bounds after the first turn aborts the episode', () => {
  const heavy = chatWith(
    '{% if messages | length > 1 %}{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}{% endif %}a',
  );
  expect(heavy.render(observe(question))).toBe('a');
  expect(() => heavy.prompt(observe(question, call, answer))).toThrow(
    expect.objectContaining({ code: 'infrastructure.chat_template' }),
  );
});

test('templates receive null for no tools, and no tool_calls for no calls', () => {
  const asked = chatWith("{{ tools is none }} {{ 'tool_calls' in messages[0] }}");
  expect(asked.render({ messages: [{ ...call, toolCalls: [] }], tools: [] })).toBe('True False');
});

test('a special token that the checkpoint lacks is undefined, and there are no documents', () => {
  const checkpoint = wordCheckpoint();
  const chat_template = '{{ bos_token is defined }}{{ eos_token }}{{ documents is none }}';
  const tokenizerConfig = { chat_template, eos_token: '<|im_end|>' };
  const lacking = new Chat({ ...checkpoint, tokenizerConfig });
  expect(lacking.render(observe(question))).toBe('False<|im_end|>True');
});

test('a template has the given day, in English', () => {
  const checkpoint = wordCheckpoint();
  const tokenizerConfig = {
    ...checkpoint.tokenizerConfig,
    chat_template: "{{ strftime_now('%A %d %B %Y %I:%M %p') }}",
  };
  const dated = (date?: string) => new Chat({ ...checkpoint, tokenizerConfig }, { date });
  expect(dated('2026-07-01').render(observe(question))).toBe('Wednesday 01 July 2026 12:00 AM');
  for (const date of ['2026-02-30', 'today', '1 July 2026', ''])
    expect(() => dated(date), date).toThrow(expect.objectContaining({ code: 'usage.bad_option' }));
});

test('without a day, a template has the day on which the chat was made', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(2026, 6, 1, 23, 59) });
  onTestFinished(() => void vi.useRealTimers());
  const today = chatWith("{{ strftime_now('%Y-%m-%d %H:%M') }}");
  vi.setSystemTime(new Date(2026, 6, 2, 0, 1));
  expect(today.render(observe(question))).toBe('2026-07-01 23:59');
});

test('with several templates, conversations with tools use tool_use', () => {
  const several = chatWith([
    { name: 'default', template: 'plain' },
    {
      name: 'tool_use',
      template:
        '{% for tool in tools %}{{ tool.function.name }}{% endfor %}{% for m in messages %}{{ m.content }}{% for call in m.tool_calls or [] %}[TOOL_CALLS]{{ call.function.name }}[ARGS]{{ call.function.arguments | tojson }}{% endfor %}{% endfor %}',
    },
  ]);
  expect(several.render({ messages: [question], tools: [] })).toBe('plain');
  expect(several.render(observe(question))).toBe('searchwhere is the river ?');
  expect(several.parse('[TOOL_CALLS]a[ARGS]{}', [search]).toolCalls).toHaveLength(1);
});

test('an invalid template or tokenizer is refused by name', () => {
  const checkpoint = wordCheckpoint();
  expect(() => chatWith('{% if %}')).toThrow(
    /words: the chat template cannot be parsed.*chat_template\.jinja/,
  );
  const tokenizer = { ...checkpoint.tokenizer, pre_tokenizer: { type: 'Sundial' } };
  expect(() => new Chat({ ...checkpoint, tokenizer })).toThrow(
    /tokenizer\.json: Unknown PreTokenizer type: Sundial/,
  );
});

test('a checkpoint without a chat template is refused with a remedy', () => {
  const checkpoint = wordCheckpoint();
  const { chat_template, ...tokenizerConfig } = checkpoint.tokenizerConfig;
  expect(chat_template).toBeTypeOf('string');
  expect(() => new Chat({ ...checkpoint, tokenizerConfig })).toThrow(/chat_template\.jinja/);
});
