/** Attacks by texts that a model writes. */
import { defineTool, defineToolEnv, openEnv, playTask, type ToolCall, type Trajectory } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import { formats } from '../parsers/formats.ts';
import { type Attack, holds } from './attack.ts';

const mistaken = 'the model reads that its call is mistaken; the episode continues and can be written';

export const model: Attack[] = [
  ...[65, 4_100, 100_000].map(
    (depth): Attack => ({
      name: `arguments of depth ${depth}`,
      slow: depth === 4_100,
      attack: `a call has arguments of ${depth} levels`,
      expected: mistaken,
      async run() {
        const { calls, trajectory } = await played({ value: JSON.parse(nested(depth)) });
        holds(calls[0]?.mistake, `was accepted: ${calls[0]?.text.slice(0, 80)}`);
        holds(trajectory.outcome.kind === 'terminated', `ended as ${trajectory.outcome.kind}`);
        encodeTrajectory(trajectory);
      },
    }),
  ),
  {
    name: 'wrong arguments of great depth',
    attack: 'a call lacks what the schema requires, and has arguments of 4,100 levels',
    expected: mistaken,
    async run() {
      const { calls } = await played(JSON.parse(`{"other": ${nested(4_100)}}`));
      holds(calls[0]?.mistake, 'was accepted');
    },
  },
  {
    name: 'huge arguments',
    attack: 'a call has an argument of 50 million characters',
    expected: mistaken,
    async run() {
      const { calls, trajectory } = await played({ value: 'x'.repeat(50_000_000) });
      holds(calls[0]?.mistake, 'was accepted');
      const { length } = encodeTrajectory(trajectory);
      holds(length < 1_000_000, `fills ${length} characters of the trajectory`);
    },
  },
  ...Object.entries(formats).map(
    ([name, { parse }]): Attack => ({
      name: `deep call for ${name}`,
      attack: `a model writes a call of 200,000 levels as ${name} writes calls`,
      expected: 'a failure that can be written as JSON, in less than a second',
      async run() {
        const call = `{"name": "search", "arguments": {"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
        const text = name === 'mistral' ? `[TOOL_CALLS][${call}]` : `<tool_call>${call}</tool_call>`;
        const started = performance.now();
        JSON.stringify(parse(name === 'llama' ? call : text));
        const milliseconds = performance.now() - started;
        holds(milliseconds < 1_000, `took ${milliseconds.toFixed(0)} ms`);
      },
    }),
  ),
  {
    name: 'semicolons for Llama',
    attack: 'a Llama model writes a call whose argument has 200,000 semicolons',
    expected: 'it is parsed in less than a second',
    async run() {
      const started = performance.now();
      formats.llama!.parse(`{"name": "search", "parameters": {"query": "${';'.repeat(200_000)}`);
      const milliseconds = performance.now() - started;
      holds(milliseconds < 1_000, `took ${milliseconds.toFixed(0)} ms`);
    },
  },
  {
    name: 'another name for Mistral',
    attack: 'a Mistral model writes [TOOL_CALLS]read[ARGS]{}, "name":"delete"',
    expected: 'the call is not one of "delete"',
    async run() {
      const { toolCalls } = formats.mistral!.parse('[TOOL_CALLS]read[ARGS]{}, "name":"delete"');
      const name = (toolCalls[0] as Partial<ToolCall> | undefined)?.name;
      holds(name !== 'delete', 'the call is one of "delete"');
    },
  },
  {
    name: 'prototype pollution',
    attack: 'a call has the argument __proto__',
    expected: 'no object is changed',
    async run() {
      await played(
        JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'),
      );
      holds(!('polluted' in {}), 'every object has the property');
    },
  },
];

function nested(depth: number): string {
  return `${'{"value":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

/** An episode of one call with these arguments, and an answer. */
async function played(
  args: Record<string, unknown>,
): Promise<{ calls: Trajectory['steps'][number]['calls']; trajectory: Trajectory }> {
  const take = defineTool({
    name: 'take',
    description: 'Takes anything.',
    inputSchema: { type: 'object', properties: { value: {} }, required: ['value'] } as const,
    execute: () => 'taken',
  });
  const env = await openEnv(
    defineToolEnv({
      name: 'model-v1',
      description: 'Takes anything.',
      tasks: { test: ['task'] },
      rewards: { right: { kind: 'outcome' } },
      episode: () => ({
        messages: 'Begin.',
        tools: [take],
        onAnswer: () => ({ end: 'answered', rewards: { right: 1 } }),
      }),
    }),
  );
  const trajectory = await playTask(env, 'task', [[{ name: 'take', arguments: args }], 'done']);
  return { calls: trajectory.steps[0]!.calls, trajectory };
}
