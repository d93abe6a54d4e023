/** How a template takes tools, calls, thoughts and contents is found by rendering, and the chat does as it needs. */
import type { Message, Observation, ToolDescription } from '@toolenv/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { buildTokenizer, tinyDesign } from '../../../../workshop/tiny-policy/tokenizer.ts';
import { Chat, type ChatOptions } from '../../src/chat/chat.ts';
import { chatAbilities, tokenizerAbilities } from '../../src/chat/chat-abilities.ts';
import { templateForm } from '../../src/chat/template-form.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

const search: ToolDescription = {
  name: 'search',
  description: 'Searches.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { type: 'integer' } },
    required: ['query'],
  },
};
const system: Message = { role: 'system', content: 'Be brief.' };
const user: Message = { role: 'user', content: 'where is the river ?' };
const call: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'call-0', name: 'search', arguments: { query: '007', limit: 2 } }],
};
const result: Message = { role: 'tool', content: 'north', toolCallId: 'call-0', name: 'search' };
const observe = (...messages: Message[]): Observation => ({ messages, tools: [search] });

function chatOf(chat_template: string | { name: string; template: string }[], options?: ChatOptions): Chat {
  // Texts come back from this tokenizer exactly.
  const { tokenizer, endOfTurn } = buildTokenizer({ ...tinyDesign(['where', 'river']), joinsLines: false });
  const tokenizerConfig = { chat_template };
  return new Chat({ folder: 'words', tokenizer, tokenizerConfig, endTokens: [endOfTurn] }, options);
}

const plain =
  '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';
/** Shows tools, and writes each call with `call`. */
const shown = (call: string, opening = '', before = '') =>
  `{% if tools %}<|im_start|>tools {{ tools | tojson }}<|im_end|>{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}${before}{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}${call}{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n${opening}{% endif %}`;
const hermesCall =
  '<tool_call>{{ {"name": c.function.name, "arguments": c.function.arguments} | tojson }}</tool_call>';
const tagCall =
  '<tool_call>\n<function={{ c.function.name }}>\n{% for k, v in c.function.arguments | items %}<parameter={{ k }}>\n{{ v if v is string else v | tojson }}\n</parameter>\n{% endfor %}</function>\n</tool_call>';

afterEach(() => void vi.restoreAllMocks());

describe('a template that shows no tools', () => {
  test('gets them in the system message, and a warning says so once', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const chat = chatOf(plain);
    const text = chat.render(observe(system, user, call, result));
    expect(text).toContain('Be brief.\n\n# Tools');
    expect(text).toContain('"name":"search"');
    expect(text).toContain(
      '<tool_call>\n{"name":"search","arguments":{"query":"007","limit":2}}\n</tool_call>',
    );
    expect(text).toContain('<|im_start|>user\n<tool_response>\nnorth\n</tool_response><|im_end|>');
    chat.render(observe(user));
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/words shows no tools/), 'ToolPrompt']]);
    expect(chat.render({ messages: [system, user], tools: [] })).not.toContain('Tools');
  });

  test('reads and teaches calls as text', () => {
    const chat = chatOf(plain);
    const action = chat.action(observe(user), call);
    expect(chat.parse(chat.written(action), [search])).toEqual({
      text: '',
      toolCalls: [{ id: 'call-0', name: 'search', arguments: { query: '007', limit: 2 } }],
    });
  });

  test('is left alone with toolPrompt: false, or tool_prompt in tokenizer_config.json', () => {
    const chat = chatOf(plain, { toolPrompt: false });
    expect(chat.render(observe(user))).not.toContain('search');
    expect(chat.toldTools).toBe(false);
    expect(new Chat(wordCheckpoint()).toldTools).toBe(false);
    expect(chatOf(plain).toldTools).toBe(true);
  });

  test("begins the user's message with them if it refuses a system message", () => {
    const chat = chatOf(
      `{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}${plain}`,
    );
    expect(chat.render(observe(system, user))).toMatch(
      /^<\|im_start\|>user\nBe brief\.\n\n# Tools[\s\S]*where is the river \?<\|im_end\|>/,
    );
  });
});

test('tools are shown under the name that the template reads', () => {
  const chat = chatOf(
    shown(hermesCall).replaceAll('tools |', 'xml_tools |').replace('if tools', 'if xml_tools'),
  );
  expect(chat.form.toolsName).toBe('xml_tools');
  expect(chat.render(observe(user))).toContain('"name": "search"');
});

test.each([
  ['hermes', hermesCall],
  ['qwen-coder', tagCall],
  [
    'mistral',
    '[TOOL_CALLS]{{ c.function.name }}[CALL_ID]{{ c.id }}[ARGS]{{ c.function.arguments | tojson }}',
  ],
  ['functionary', '<function={{ c.function.name }}>{{ c.function.arguments | tojson }}</function>'],
])('the format %s is found by a call that the template writes, and reads it back', (name, written) => {
  const chat = chatOf(shown(written));
  expect(chat.form).toMatchObject({ hasParallelCalls: true, problem: undefined });
  expect(chat.form.format?.name).toBe(name);
  const two = {
    ...call,
    toolCalls: [...call.toolCalls!, { ...call.toolCalls![0]!, arguments: { query: 'x' } }],
  };
  const { toolCalls } = chat.parse(chat.written(chat.action(observe(user), two)), [search]);
  expect(toolCalls).toMatchObject([{ arguments: { query: '007', limit: 2 } }, { arguments: { query: 'x' } }]);
});

test('arguments are JSON in a text where the template needs it', () => {
  const chat = chatOf(
    shown(
      '<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments + "" }}}</tool_call>',
    ),
  );
  expect(chat.form.arguments).toBe('text');
  expect(chat.render(observe(user, call), false)).toContain('"arguments": {"query":"007","limit":2}}');
});

test.each([
  ['leaves calls out', shown('')],
  ['refuses calls', shown("{{ raise_exception('no calls') }}")],
  [
    'writes calls that no known format reads',
    shown('CALL {{ c.function.name }} WITH {{ c.function.arguments }}'),
  ],
])(
  'a template that shows tools and %s is refused by name, or gets the tool prompt by option',
  (problem, source) => {
    const refusal = expect.objectContaining({
      code: 'usage.chat_template',
      message: `The chat template of words shows tools and ${problem}: give toolPrompt: true, to describe tools in the system message.`,
    });
    expect(() => chatOf(source).render(observe(user))).toThrow(refusal);
    expect(() => chatOf(source).parse('x', [search])).toThrow(refusal);
    expect(chatOf(source).render({ messages: [user], tools: [] })).toContain('where is the river');
    expect(chatOf(source, { toolPrompt: true }).render(observe(user))).toContain('# Tools');
  },
);

test('contents are lists of parts where the template needs them', () => {
  const chat = chatOf(
    '{% for m in messages %}{{ m.role }}: {% for part in m.content %}{{ part.text }}{% endfor %}<|im_end|>{% endfor %}',
  );
  expect(chat.form.content).toBe('parts');
  expect(chat.render({ messages: [user], tools: [] })).toBe('user: where is the river ?<|im_end|>');
});

describe('thoughts', () => {
  const thinking = shown(tagCall, '<think>\n', '<think>\n{{ m.reasoning_content or "" }}\n</think>\n\n');

  test('are separated by the marks of the template, also where the prompt has begun them', () => {
    const chat = chatOf(thinking);
    expect(chat.form).toMatchObject({
      reasoningName: 'reasoning_content',
      thoughts: { open: '<think>', close: '</think>' },
      begun: '<think>\n',
    });
    expect(chat.parse('I know.\n</think>\n\nnorth', [search])).toEqual({
      text: 'north',
      reasoning: 'I know.',
      toolCalls: [],
    });
    expect(chat.parse('It is north', [search])).toEqual({
      text: '',
      reasoning: 'It is north',
      toolCalls: [],
    });
  });

  test('go back into the conversation', () => {
    const thought: Message = { role: 'assistant', content: 'north', reasoning: 'I know.' };
    expect(chatOf(thinking).render(observe(user, thought), false)).toContain(
      '<think>\nI know.\n</think>\n\nnorth',
    );
  });

  test('that the prompt has begun are ended in a turn to learn from, where the template drops them', () => {
    const dropping = chatOf(shown(hermesCall, '<think>\n'));
    const action = dropping.written(dropping.action(observe(user), call));
    expect(action).toMatch(/^<\/think>\n\n<tool_call>/);
    expect(dropping.parse(action, [search]).toolCalls).toMatchObject([{ name: 'search' }]);
  });

  test('are learned as text where the template takes none', () => {
    const chat = chatOf(shown(hermesCall));
    const action = chat.action(observe(user), { role: 'assistant', content: 'north', reasoning: 'I know.' });
    expect(chat.written(action)).toBe('<think>\nI know.\n</think>\n\nnorth');
    expect(() =>
      chatOf("{% for m in messages %}{{ m.content.split('</think>')[-1] }}<|im_end|>{% endfor %}").action(
        { messages: [user], tools: [] },
        { role: 'assistant', content: 'north', reasoning: 'I know.' },
      ),
    ).toThrow(/leaves out the thought of/);
  });

  test('have other marks in other templates', () => {
    const marked = chatOf(shown(hermesCall, '', '[THINK]{{ m.reasoning_content or "" }}[/THINK]'));
    expect(marked.form.thoughts).toEqual({ open: '[THINK]', close: '[/THINK]' });
    expect(marked.parse('[THINK]a <think> tag[/THINK]north', [search])).toEqual({
      text: 'north',
      reasoning: 'a <think> tag',
      toolCalls: [],
    });
  });
});

test('each conversation is read by the template that renders it', () => {
  // Only the template without tools begins a thought.
  const two = chatOf([
    { name: 'default', template: `${plain}{% if add_generation_prompt %}<think>\n{% endif %}` },
    { name: 'tool_use', template: shown(hermesCall) },
  ]);
  const without = { messages: [user], tools: [] };
  const answer: Message = { role: 'assistant', content: 'north' };
  expect(two.written(two.action(without, answer))).toBe('</think>\n\nnorth');
  expect(two.parse('north', [])).toMatchObject({ text: '', reasoning: 'north' });
  expect(two.isThinking(two.encode('north'), [])).toBe(true);
  expect(two.written(two.action(observe(user), answer))).toBe('north');
  expect(two.parse('north', [search])).toEqual({ text: 'north', toolCalls: [] });
  expect(two.isThinking(two.encode('north'), [search])).toBe(false);
});

test('the grammar of calls is that of the tools, whatever was limited before', () => {
  // Shows no tools, and writes calls that have no grammar: the tool prompt's calls do.
  const chat = chatOf(
    shown(
      '<｜tool▁call▁begin｜>{{ c.function.name }}<｜tool▁sep｜>{{ c.function.arguments | tojson }}<｜tool▁call▁end｜>',
    ).replace('{% if tools %}<|im_start|>tools {{ tools | tojson }}<|im_end|>{% endif %}', ''),
    { toolPrompt: true },
  );
  expect(chat.form).toMatchObject({ toolsName: undefined, format: { name: 'deepseek' } });
  expect(() => chat.constrainCalls([], 400)).toThrow(/the format "deepseek" cannot be constrained/);
  expect(chat.formatName([search])).toBe('hermes');
  expect(chat.constrainCalls([search], 400)).toMatchObject({ accept: expect.any(Function) });
});

test('a template beyond its bounds is tried once', () => {
  const render = vi.fn(() => {
    throw new RangeError('too much work');
  });
  expect(templateForm(render, '')).toMatchObject({
    content: 'text',
    format: undefined,
    problem: 'refuses calls',
  });
  expect(render).toHaveBeenCalledTimes(1);
});

test('abilities say what a model can do, and why not', () => {
  const named = (source: string) =>
    Object.fromEntries(chatAbilities(chatOf(source)).map(({ name, does, how }) => [name, `${does} ${how}`]));
  expect(named(shown(hermesCall))).toMatchObject({
    tools: 'true the template shows them',
    calls: 'true as hermes writes them',
    'parallel calls': 'true several calls of a turn',
    prefix: 'true the next prompt continues the last turn',
  });
  expect(named(plain)).toMatchObject({
    tools: 'true the template shows none: the system message describes them',
    calls: 'true as hermes writes them',
  });
  expect(named(shown('')).calls).toMatch(/^false .*leaves calls out/);
  const tokenizer = tokenizerAbilities(chatOf(plain));
  expect(tokenizer.map(({ name, does }) => [name, does])).toEqual([
    ['tokenizer', expect.any(Boolean)],
    ['turns end with', true],
    ['safe results', false],
  ]);
});
