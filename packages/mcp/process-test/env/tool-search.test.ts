/** An environment whose policy finds the server's tools by searching. */
import { openEnv, playTask } from '@toolenv/core';
import { defineMcpEnv } from '@toolenv/mcp';
import { expect, test } from 'vitest';
import { realServer } from '../../test/servers.ts';

const definition = defineMcpEnv({
  name: 'found-v1',
  server: realServer('everything'),
  tasks: {
    test: [
      {
        prompt: 'Say hello with the server, then answer: done',
        answer: 'done',
        calls: { echo: { message: 'hello' } },
      },
    ],
  },
  toolSearch: { size: 2 },
});

test('the policy begins with the search, the oracle finds what it needs, and other tools cannot be called', async () => {
  await using env = await openEnv(definition);
  const task = await env.tasks.test.get(0);
  const { steps, reward } = await playTask(env, task, definition.oracle!(task)!, { seed: 1 });
  expect(reward).toBe(1);
  const offered = steps.map(({ observation }) => observation.tools.map(({ name }) => name));
  expect(offered[0]).toEqual(['find_tools']);
  expect(offered[1]).toContain('echo');
  expect(offered[1]!.length).toBeLessThanOrEqual(3);
  const echo = { name: 'echo', arguments: { message: 'hello' } };
  const { steps: early, reward: none } = await playTask(env, task, [[echo], 'done'], { seed: 1 });
  expect(early[0]!.calls[0]!.mistake).toMatchObject({ code: 'unknown_tool' });
  expect(none).toBe(0);
});
