/** LoRA from the command line: adapters train and resume, and the exported folder is an ordinary model. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCheckpoint } from '@toolenv/policy';
import { expect, test } from 'vitest';
import { startCli } from '../../packages/cli/test/start-cli.ts';
import { newFolder } from '../test/new-folder.ts';

const root = join(import.meta.dirname, '../..');
const base = join(root, 'packages/checkpoints/tiny');
const out = join(await newFolder(), 'run');

function train(...flags: string[]) {
  const task = ['@toolenv/envs-qa/bridge-v1', '--policy', base, '--env-option', 'topK=2', '--out', out];
  const size = ['--tasks-per-step', '2', '--group-size', '8', '--max-tokens', '32', '--temperature', '1.2'];
  return startCli(['train', ...task, ...size, '--checkpoint-every', '1', ...flags], root).finished;
}

test('adapters train, resume and are exported merged, with the adapter beside for peft', async () => {
  const rate = ['--learning-rate', '1e-3', '--beta', '0.01'];
  const first = await train('--steps', '1', '--lora-rank', '4', '--lora-targets', 'q_proj,up_proj', ...rate);
  expect(first).toMatchObject({ code: 0 });

  const other = await train('--steps', '2', '--resume', '--lora-rank', '0', ...rate);
  expect(other.code).toBe(2);
  expect(other.stderr).toMatch(/differs: policyOptions\.loraRank 4 → 0\. Give the same/);

  const more = await train(
    '--steps',
    '2',
    '--resume',
    '--lora-rank',
    '4',
    '--lora-targets',
    'q_proj,up_proj',
    // How to compute may change.
    '--token-budget',
    '900',
    ...rate,
  );
  expect(more).toMatchObject({ code: 0 });

  const [before, after] = [await readCheckpoint(base), await readCheckpoint(join(out, 'policy'))];
  const changed = Object.keys(before.weights).filter(
    (name) => !before.weights[name]!.data.every((value, i) => value === after.weights[name]!.data[i]),
  );
  const layers = before.config.num_hidden_layers;
  const expected = Array.from({ length: layers }, (_, layer) => [
    `model.layers.${layer}.mlp.up_proj.weight`,
    `model.layers.${layer}.self_attn.q_proj.weight`,
  ]);
  expect(changed.sort()).toEqual(expected.flat());
  expect((await readdir(join(out, 'policy', 'adapter'))).sort()).toEqual([
    'adapter_config.json',
    'adapter_model.safetensors',
  ]);
});
