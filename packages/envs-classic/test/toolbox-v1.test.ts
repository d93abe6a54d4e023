import { type Action, openEnv, type Scripted, type Split } from '@toolenv/core';
import { functionTools } from '@toolenv/core/tools';
import { expect, test } from 'vitest';
import { operations, toolNameOf, verbs } from '../src/toolbox/services.ts';
import toolbox from '../src/toolbox-v1.ts';
import { play } from './play.ts';

const env = await openEnv(toolbox, {}, { seed: 1 });
const tasks = await Promise.all(Array.from({ length: 200 }, async (_, index) => env.tasks.test.get(index)));
await env.close();

test('there are a thousand tools of different names', () => {
  expect(new Set(operations.map(toolNameOf)).size).toBe(1000);
});

test.each(['search', 'all'] as const)(
  'the oracle wins every task, with the tools offered as %s',
  async (offer) => {
    for (const task of tasks.slice(0, offer === 'all' ? 10 : 200)) {
      const { reward, steps } = await play(toolbox, task, toolbox.oracle!(task)!, { offer });
      expect(reward).toBeCloseTo(1.1, 9);
      expect(steps).toHaveLength(offer === 'all' ? 2 : 3);
    }
  },
);

test('all tools take 240,000 characters, and those that were found 2,000 for each errand', async () => {
  const [task] = tasks;
  const offered = async (offer: 'search' | 'all') => {
    const { steps } = await play(toolbox, task!, toolbox.oracle!(task!)!, { offer });
    const tools = functionTools(steps.at(-1)!.observation.tools);
    return { count: tools.length, characters: tools.map((tool) => JSON.stringify(tool)).join('\n').length };
  };
  const all = await offered('all');
  expect(all.count).toBe(1000);
  expect(Math.round(all.characters / 10_000)).toBe(24);
  const found = await offered('search');
  expect(found.count).toBeLessThanOrEqual(1 + 5 * task!.errands.length);
  expect(found.characters).toBeLessThan(2000 * task!.errands.length);
});

test('whoever searches in the words of the question and takes the first tool finds one in ten', async () => {
  let solved = 0;
  const alone = tasks.filter(({ errands }) => errands.length === 1);
  for (const task of alone) {
    const [{ service, verb, object, id }] = task.errands as [(typeof task.errands)[0]];
    const found: string[] = [];
    const script = ({ messages }: { messages: readonly { content: string }[] }, turn: number): Scripted => {
      const said = messages.at(-1)!.content;
      if (turn === 0)
        return [
          { name: 'find_tools', arguments: { query: `${service} ${verbs[verb]!.replace('#', object)}` } },
        ];
      if (turn === 2) return said;
      found.push(...said.split('\n').map((line) => line.split(':')[0]!));
      return [{ name: found[0]!, arguments: { id } }];
    };
    const { rewards } = await play(toolbox, task, script);
    expect(found.every((name) => name.startsWith(`${service}_`) && name.endsWith(`_${object}`))).toBe(true);
    solved += rewards.correct!;
  }
  expect(alone.length).toBeGreaterThan(50);
  expect(solved / alone.length).toBeGreaterThan(0.03);
  expect(solved / alone.length).toBeLessThan(0.2);
});

test('receipts that were not fetched, in another order or among others are wrong', async () => {
  const task = tasks.find(({ errands }) => errands.length === 2)!;
  const { rewards: none } = await play(toolbox, task, (await said(task)).slice(-1));
  expect(none).toEqual({ correct: 0, done: null });
  const [searches, calls, answer] = await said(task);
  const [first, second] = (answer as Action).text.split(', ');
  for (const wrong of [`${second}, ${first}`, `${first}`, `${first}, ${second}, ${first}`, '']) {
    const { rewards } = await play(toolbox, task, [searches!, calls!, wrong]);
    expect(rewards).toEqual({ correct: 0, done: 1 });
  }
});

test('a tool that was not found cannot be called', async () => {
  const [task] = tasks;
  const [, calls] = await said(task!);
  const { steps, rewards } = await play(toolbox, task!, [calls!, 'done']);
  expect(steps[0]!.calls[0]!.mistake).toMatchObject({ code: 'unknown_tool' });
  expect(rewards).toMatchObject({ correct: 0 });
});

/** The turns of the oracle. */
async function said(task: (typeof tasks)[0]): Promise<Scripted[]> {
  const { steps } = await play(toolbox, task, toolbox.oracle!(task)!);
  return steps.map(({ action }) => action);
}

test('tasks are those of the seed, and no tool is needed in two splits', async () => {
  const other = await openEnv(toolbox, {}, { seed: 2 });
  expect(await other.tasks.test.get(0)).not.toEqual(tasks[0]);
  const again = await openEnv(toolbox, {}, { seed: 1 });
  expect(await again.tasks.test.get(0)).toEqual(tasks[0]);
  const needed = async (split: Split) => {
    const drawn = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => again.tasks[split].get(index)),
    );
    return drawn.flatMap(({ errands }) => errands.map(toolNameOf));
  };
  const [train, test] = [new Set(await needed('train')), await needed('test')];
  expect(test.filter((name) => train.has(name))).toEqual([]);
});
