/** What agents do beside one straight conversation: each request finds the conversation that it goes on with. */
import { expect, test } from 'vitest';
import { calling, play, policyOf } from './agents.ts';
import { converse, lengthOf, type Sent, say } from './chat-client.ts';

const user = (content: string): Sent => ({ role: 'user', content });
const system = (content: string): Sent => ({ role: 'system', content });
/** Answers with the last message. */
const echo = policyOf(({ messages }) => `${messages.at(-1)!.content}!`);

test('a growing conversation keeps its place, and the observation has what the model itself wrote', async () => {
  const { steps, outcome } = await play(
    (context) => converse(context, 'How long?'),
    ({ messages }) =>
      messages.length < 2 ? calling('sea') : messages.length < 4 ? calling('a', 'bc') : 'right',
  );
  expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
  expect(steps.map(({ observation }) => observation.conversation)).toEqual([undefined, undefined, undefined]);
  const call = (id: string, word: string) => ({ id, name: 'lookup', arguments: { word } });
  const result = (toolCallId: string, content: string) => ({
    role: 'tool',
    content,
    toolCallId,
    name: 'lookup',
  });
  expect(steps[2]!.observation.messages).toEqual([
    { role: 'user', content: 'How long?' },
    { role: 'assistant', content: '', toolCalls: [call('call-0', 'sea')] },
    result('call-0', '3'),
    { role: 'assistant', content: '', toolCalls: [call('call-0', 'a'), call('call-1', 'bc')] },
    result('call-0', '1'),
    result('call-1', '2'),
  ]);
  expect(steps[1]!.calls.map(({ text, result: got }) => [text, got])).toEqual([
    ['1', { content: [{ type: 'text', text: '1' }] }],
    ['2', { content: [{ type: 'text', text: '2' }] }],
  ]);
  expect(steps[2]!.info).toEqual({ requests: { first: 1, continued: 2 } });
});

test('the ids that clients see are unique, although the model repeats its own', async () => {
  const ids: string[] = [];
  await play(
    async (context) => {
      const messages: Sent[] = [user('q')];
      for (let turn = 0; turn < 3; turn++) {
        const said = await say(context, messages);
        messages.push(said);
        for (const { id, function: called } of said.tool_calls!) {
          ids.push(id);
          messages.push({ role: 'tool', tool_call_id: id, content: lengthOf(called.arguments) });
        }
      }
    },
    () => calling('x', 'y'),
  );
  expect(new Set(ids).size).toBe(6);
  // The last nine letters and digits are those that Mistral's template keeps.
  expect(new Set(ids.map((id) => id.slice(-9))).size).toBe(6);
});

test('helpers at once, a compaction, best of three and an edit are told apart, and each is a conversation', async () => {
  const { steps } = await play(async (context) => {
    const first = await say(context, [system('Main'), user('q')]);
    // Helpers have other instructions.
    const helped = ['a', 'b', 'c'].map(async (name) => {
      const begun = [system('Help'), user(name)];
      const said = await say(context, begun);
      return say(context, [...begun, said, user('more')]);
    });
    await Promise.all(helped);
    const history = [system('Main'), user('q'), first, user('go on')];
    const second = await say(context, history);
    await Promise.all([1, 2, 3].map(() => say(context, [...history, second, user('vote')])));
    await say(context, [system('Main'), user('A summary of it all')]);
    await say(context, [system('Main'), user('q'), { ...first, content: 'changed' }, user('go on')]);
    return 'right';
  }, echo);
  expect(steps.at(-1)!.info).toEqual({
    requests: { first: 1, helper: 3, continued: 5, sample: 2, compaction: 1, edit: 1 },
  });
  const turns = new Map<string | undefined, string[]>();
  for (const { observation, action } of steps) {
    const { conversation } = observation;
    turns.set(conversation, [...(turns.get(conversation) ?? []), action.text]);
  }
  const all = [...turns.values()].map((said) => said.join(' ')).sort();
  expect(all).toEqual(
    [
      'A summary of it all!',
      'a! more!',
      'b! more!',
      'c! more!',
      'go on!',
      'q! go on! vote!',
      'vote!',
      'vote!',
    ].sort(),
  );
  expect(turns.get(undefined)).toEqual(['q!', 'go on!', 'vote!']);
});

test('a conversation has the same name whenever it begins', async () => {
  const namesOf = async (order: readonly string[]) => {
    const { steps } = await play(async (context) => {
      await say(context, [user('q')]);
      for (const name of order) await say(context, [system('Help'), user(name)]);
    }, echo);
    return new Map(steps.map(({ observation, action }) => [action.text, observation.conversation]));
  };
  const [one, other] = [await namesOf(['a', 'b', 'b']), await namesOf(['b', 'a', 'b'])];
  expect(one.get('a!')).toMatch(/^[0-9a-f]{12}$/);
  expect(one).toEqual(other);
  expect(one.get('b!')).toMatch(/^[0-9a-f]{12}~2$/);
});

test('an edited call is read as the client wrote it, under an id that the model knows', async () => {
  const { steps } = await play(
    async (context) => {
      const said = await say(context, [user('q')]);
      const [{ id, function: called }] = said.tool_calls as [NonNullable<typeof said.tool_calls>[0]];
      const edited = {
        ...said,
        tool_calls: [
          { id, type: 'function' as const, function: { ...called, arguments: '{"word": "other"}' } },
        ],
      };
      await say(context, [user('q'), edited, { role: 'tool', tool_call_id: id, content: '5' }]);
    },
    (_, __, call) => (call === 0 ? calling('sea') : 'done'),
  );
  expect(steps[1]!.observation.conversation).toBeDefined();
  expect(steps[1]!.observation.messages[1]).toEqual({
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'call-0', name: 'lookup', arguments: { word: 'other' } }],
  });
  expect(steps[1]!.info).toEqual({ requests: { first: 1, edit: 1 } });
});

test('other tools begin another conversation', async () => {
  const { steps } = await play(async (context) => {
    const said = await say(context, [user('q')]);
    await say(context, [user('q'), said, user('more')], { tools: [] });
  }, echo);
  expect(steps[1]!.observation.tools).toEqual([]);
  expect(steps[1]!.observation.conversation).toBeDefined();
});

const oddArguments: readonly [string, string, string][] = [
  ['spacing', '{ "word" :\n"sea" }', '{"word":"sea"}'],
  ['the order of keys', '{"b":1,"word":"x","a":2}', '{"a":2,"word":"x","b":1}'],
  ['1.0', '{"word":"x","n":1.0}', '{"word":"x","n":1}'],
  ['escapes', '{"word":"\\u0041"}', '{"word":"A"}'],
  ['a large number', '{"word":"x","n":12345678901234567890}', '{"word":"x","n":12345678901234567000}'],
  ['__proto__', '{"word":"x","__proto__":{"a":1}}', '{"__proto__":{"a":1},"word":"x"}'],
];

test.each(oddArguments)(
  'a client that writes arguments anew goes on: %s',
  async (_title, written, sentBack) => {
    const { steps } = await play(
      async (context) => {
        const said = await say(context, [user('q')]);
        const [{ id }] = said.tool_calls as [NonNullable<typeof said.tool_calls>[0]];
        const again = {
          ...said,
          tool_calls: [{ id, type: 'function' as const, function: { name: 'lookup', arguments: sentBack } }],
        };
        await say(context, [user('q'), again, { role: 'tool', tool_call_id: id, content: '3' }]);
      },
      (_, __, call) =>
        call === 0
          ? {
              text: '',
              toolCalls: [{ id: 'call-0', name: 'lookup', arguments: JSON.parse(written) }],
              stopReason: 'tool_call',
            }
          : 'done',
    );
    expect(steps[1]!.info).toEqual({ requests: { first: 1, continued: 1 } });
    expect(steps[1]!.observation.messages[1]).toMatchObject({
      toolCalls: [{ arguments: JSON.parse(written) }],
    });
  },
);

const broken = { parseFailure: 'Not JSON.', text: '{"name": "lookup", "arguments": {"word": "sea"' };
const malformed = {
  text: `<tool_call>${broken.text}`,
  toolCalls: [broken],
  stopReason: 'tool_call' as const,
};

test('a malformed call is text by default', async () => {
  const { steps } = await play(
    (context) => say(context, [user('q')]).then(({ content }) => content),
    () => malformed,
  );
  expect(steps[0]!.calls).toMatchObject([{ call: broken, mistake: { code: 'malformed_call' } }]);
});

test('a malformed call is handed on as it was written, and the framework may send {} back', async () => {
  const { steps } = await play(
    async (context) => {
      const said = await say(context, [user('q')]);
      const [{ id, function: called }] = said.tool_calls as [NonNullable<typeof said.tool_calls>[0]];
      expect(called).toEqual({ name: 'lookup', arguments: broken.text });
      const again = {
        ...said,
        tool_calls: [{ id, type: 'function' as const, function: { name: 'lookup', arguments: '{}' } }],
      };
      await say(context, [user('q'), again, { role: 'tool', tool_call_id: id, content: 'No JSON!' }]);
    },
    (_, __, call) => (call === 0 ? malformed : 'done'),
    { malformed: 'call' },
  );
  expect(steps[1]!.info).toEqual({ requests: { first: 1, continued: 1 } });
  expect(steps[1]!.observation.messages.slice(1)).toEqual([
    { role: 'assistant', content: malformed.text },
    { role: 'tool', content: 'No JSON!', toolCallId: '', name: '' },
  ]);
  expect(steps[0]!.calls[0]!.text).toBe('No JSON!');
});

test('a malformed call is corrected before the agent sees the answer', async () => {
  const { steps, reward } = await play(
    async (context) => (await converse(context, 'q')) === 'yes' && 'right',
    (_, __, call) => [malformed, calling('sea'), 'yes'][call]!,
    { malformed: 'correct' },
  );
  expect(reward).toBe(1);
  expect(steps[1]!.observation.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(steps[1]!.observation.messages[2]!.content).toContain('Error (malformed_call)');
  // The agent's next request does not know of it, and still goes on from there.
  expect(steps[2]!.observation.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
  ]);
  expect(steps[2]!.info).toEqual({ requests: { first: 1, continued: 1 } });
});
