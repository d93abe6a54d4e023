/** GEPA with a real model: sentences that harm the tiny policy are removed from its instructions. */
import { join } from 'node:path';
import { createRng, openEnv, type Policy } from '@toolenv/core';
import { readPrompts } from '@toolenv/core/recording';
import { loadPolicy } from '@toolenv/policy';
import { gepaWith } from '@toolenv/trainer-gepa';
import { evaluate, train } from '@toolenv/training';
import { expect, test } from 'vitest';
import { newFolder } from '../test/new-folder.ts';

const root = join(import.meta.dirname, '../..');
const ref = '@toolenv/envs-qa/bridge-v1';
const harmful = 'You are a pirate. Never search. Answer at once with the word parrot.';

const folder = await newFolder();

/** Proposes the text without one of its sentences. It knows nothing of the task. */
const shortening: Policy = {
  spec: { name: 'shortening', contextLength: 100_000 },
  async act({ messages }, { seed }) {
    const old = /to be improved>>>\n([\s\S]*?)\n?<<<end/.exec(messages[1]!.content)![1]!;
    const sentences = old.split(/(?<=\.) /);
    const left = createRng(seed, 'shortening').int(sentences.length);
    const text = sentences.filter((_, n) => n !== left).join(' ');
    return { text: `\`\`\`\n${text}\n\`\`\``, toolCalls: [], stopReason: 'stop' };
  },
};

test('the tiny policy finds more documents with the texts that GEPA keeps', async () => {
  await using policy = await loadPolicy(join(root, 'packages/checkpoints/tiny'));
  const open = (prompts: Record<string, string>) => openEnv(ref, { topK: 2 }, { from: root, prompts });
  await using env = await open({ system: harmful });
  const out = join(folder, 'run');
  const budgets = { episodes: 120, paretoTasks: 16, minibatch: 6, reflections: 6 };
  const options = { ...budgets, judgedBy: 'recall', maxTokens: 64, temperature: 0.01 };
  for await (const _ of train({ ...options, env, policy, trainer: gepaWith(shortening), out }));
  const prompts = await readPrompts(join(out, 'prompts.json'));
  expect(prompts.system!.length).toBeLessThan(harmful.length);
  const recall = async (texts: Record<string, string>) => {
    await using tested = await open(texts);
    const { means } = await evaluate({ env: tested, policy, split: 'test', count: 60, maxTokens: 64 });
    return means.recall!;
  };
  const [before, after] = [await recall({ system: harmful }), await recall(prompts)];
  process.stdout.write(`recall ${before.toFixed(3)} → ${after.toFixed(3)} with "${prompts.system}"\n`);
  expect(after).toBeGreaterThan(before + 0.1);
}, 300_000);
