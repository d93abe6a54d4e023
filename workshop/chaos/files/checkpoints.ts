/** Checkpoints: damaged weights, hostile configurations and tokenizers, and chat templates that never end. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rng } from '@toolenv/core';
import { loadPolicy, writeCheckpoint } from '@toolenv/policy';
import { wordCheckpoint } from '../../../packages/policy/test/word-checkpoint.ts';
import { hostileTemplates } from './hostile-templates.ts';
import { mutateBytes, mutateJson } from './mutate.ts';
import type { Subject } from './subject.ts';

const whole = wordCheckpoint();
const jsonFiles = Object.keys(whole.files).filter((name) => name.endsWith('.json'));

export const checkpoints: Subject = {
  async damage(rng, folder) {
    await writeCheckpoint(folder, whole);
    const kind = rng.int(20);
    if (kind < 6) return damageFile(join(folder, 'model.safetensors'), (bytes) => mutateBytes(rng, bytes));
    if (kind < 9) return damageFile(join(folder, rng.pick(jsonFiles)), (bytes) => mutateBytes(rng, bytes));
    if (kind < 18)
      return damageFile(join(folder, rng.pick(jsonFiles)), (bytes) => mutateJson(rng, bytes.toString()));
    return damageTemplate(rng, folder, kind === 18);
  },
  async use(folder) {
    await using policy = await loadPolicy(folder);
    const observation = { messages: [{ role: 'user' as const, content: 'where is the river?' }], tools: [] };
    await policy.act(observation, { maxTokens: 2, temperature: 1, seed: 1 });
  },
};

async function damageFile(path: string, damage: (bytes: Buffer) => Buffer | string): Promise<string> {
  await writeFile(path, damage(await readFile(path)));
  return path.slice(path.lastIndexOf('/') + 1);
}

async function damageTemplate(rng: Rng, folder: string, isHostile: boolean): Promise<string> {
  const own = String(whole.tokenizerConfig.chat_template);
  const [name, template] = isHostile
    ? rng.pick(Object.entries(hostileTemplates))
    : ['damaged template', mutateBytes(rng, Buffer.from(own)).toString()];
  await writeFile(join(folder, 'chat_template.jinja'), template);
  return name;
}
