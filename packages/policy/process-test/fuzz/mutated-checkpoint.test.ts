/** A damaged checkpoint either loads or gives a one-line error, in bounded time. */
import { join } from 'node:path';
import { createRng, ToolEnvError } from '@toolenv/core';
import { expect, test } from 'vitest';
import { Chat } from '../../src/chat/chat.ts';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { createModel } from '../../src/model/model.ts';
import { mutateCheckpoint } from '../../test/fuzz/mutated-checkpoint.ts';
import { inTemporaryFolder, otherLayers } from '../../test/tiny-model.ts';
import { wordCheckpoint } from '../../test/word-checkpoint.ts';

/** Opens a checkpoint and uses its parts once. */
async function open(folder: string): Promise<void> {
  const checkpoint = await readCheckpoint(folder);
  const chat = new Chat(checkpoint);
  createModel(checkpoint.config, checkpoint.weights);
  chat.decode(chat.prompt({ messages: [{ role: 'user', content: 'where is the river ?' }], tools: [] }));
}

const wholes = [{}, ...Object.values(otherLayers)].map(wordCheckpoint);

test('each of 200 damaged checkpoints loads or gives a one-line error', { timeout: 300_000 }, async () => {
  await inTemporaryFolder(async (folder) => {
    let refused = 0;
    for (let number = 0; number < 200; number++) {
      const damaged = join(folder, String(number));
      await writeCheckpoint(damaged, wholes[number % wholes.length]!);
      const what = `${number}, ${await mutateCheckpoint(damaged, createRng(1, 'mutation', number))}`;
      const start = performance.now();
      const error = await open(damaged).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(performance.now() - start, what).toBeLessThan(20_000);
      if (error === undefined) continue;
      refused += 1;
      expect(ToolEnvError.isInstance(error), `${what}: ${(error as Error).stack}`).toBe(true);
      expect((error as ToolEnvError).code, what).toMatch(/^usage\.(checkpoint_\w+|chat_template)$/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be printed.
      expect((error as Error).message, what).toMatch(/^[^\u0000-\u001f]{1,800}$/);
    }
    expect(refused).toBeGreaterThan(100);
  });
});
