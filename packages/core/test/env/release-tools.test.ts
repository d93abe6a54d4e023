/** A tool that keeps something for an episode is told when the episode is over. */
import { expect, test } from 'vitest';
import { defineTool, defineToolEnv, openEnv, type Tool } from '../../src/index.ts';

function keeper(name: string, released: string[]): Tool {
  const tool = defineTool(name, 'Keep something.', {}, () => 'kept');
  return { ...tool, release: async (episodeId) => void released.push(`${name} ${episodeId}`) } as Tool;
}

test('only the tools that an episode has called are released, once: at the next reset, and at close', async () => {
  const released: string[] = [];
  const tools = [keeper('called', released), keeper('idle', released)];
  const own = keeper('own', released);
  const env = defineToolEnv({
    name: 'keep-v1',
    description: 'Keeps.',
    tasks: { train: [{}], validation: [{}], test: [{}] },
    rewards: { done: { kind: 'outcome' } },
    async episode({ call }) {
      await call(own);
      return { messages: 'Keep.', tools, close: () => void released.push('closed') };
    },
  });
  const open = await openEnv(env);
  const episode = open.episode();
  for (const episodeId of ['a', 'b']) {
    await episode.reset({ task: {}, seed: 1, episodeId });
    const toolCalls = [{ id: '1', name: 'called', arguments: {} }];
    await episode.step({ text: '', toolCalls, stopReason: 'stop' } as never);
  }
  const first = ['closed', 'own a', 'called a'];
  expect(released).toEqual(first);
  await episode.close();
  await episode.close();
  expect(released).toEqual([...first, 'closed', 'own b', 'called b']);
  await open.close();
});
