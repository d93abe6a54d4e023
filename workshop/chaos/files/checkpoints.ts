/** Checkpoints: damaged weights, configurations, tokenizers and templates. */
import { loadPolicy, writeCheckpoint } from '@toolenv/policy';
import { mutateCheckpoint } from '../../../packages/policy/test/fuzz/mutated-checkpoint.ts';
import { wordCheckpoint } from '../../../packages/policy/test/word-checkpoint.ts';
import type { Subject } from './subject.ts';

const whole = wordCheckpoint();

export const checkpoints: Subject = {
  async damage(rng, folder) {
    await writeCheckpoint(folder, whole);
    return mutateCheckpoint(folder, rng);
  },
  async use(folder) {
    await using policy = await loadPolicy(folder);
    const observation = { messages: [{ role: 'user' as const, content: 'where is the river?' }], tools: [] };
    await policy.act(observation, { maxTokens: 2, temperature: 1, seed: 1 });
  },
};
