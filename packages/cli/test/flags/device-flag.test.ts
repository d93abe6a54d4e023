/** `--device` and `--precision`: where and how a checkpoint's model is computed, and what cannot have them. */
import { join } from 'node:path';
import { devices } from '@toolenv/policy';
import { expect, it } from 'vitest';
import { deviceSchema } from '../../src/flags/device-flag.ts';
import { fixture, runCli } from '../run-cli.ts';

const checkpoint = join(import.meta.dirname, '../../../../workshop/tiny-policy/checkpoint');

it('takes every device that the policy package knows', () => {
  expect(deviceSchema.properties).toMatchObject({ device: { enum: ['auto', ...devices] } });
});

it.each([
  ['chooses one by itself', '--device', 'auto'],
  ['computes in another precision', '--precision', 'float16'],
])('%s', async (_, ...flags) => {
  const args = ['eval', '@toolenv/envs-qa/lookup-v1', '--policy', checkpoint, '--count', '2', '--json'];
  const { code, stdout } = await runCli(...args, ...flags);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ episodes: 2 });
});

it.each([
  ['eval', checkpoint, ['--device', 'tpu'], '--device tpu: give auto, cpu, webgpu, cuda, dml or coreml.'],
  [
    'eval',
    fixture.policy,
    ['--device', 'cpu'],
    `--device cpu: ${fixture.policy} is not a checkpoint folder; remove it.`,
  ],
  [
    'train',
    fixture.policy,
    ['--token-budget', '9', '--trainer', fixture.trainer, '--out', 'never-made'],
    `--token-budget 9: ${fixture.policy} is not a checkpoint folder; remove it.`,
  ],
  [
    'train',
    checkpoint,
    ['--lora-alpha', '3', '--trainer', fixture.trainer, '--out', 'never-made'],
    '--lora-alpha: give --lora-rank too, as --lora-rank 16.',
  ],
  [
    'eval',
    checkpoint,
    ['--precision', 'float16', '--runtime', 'tfjs'],
    "--precision float16: it is ONNX Runtime's; with --runtime tfjs, the package that is installed decides. Remove one.",
  ],
  [
    'train',
    checkpoint,
    ['--device', 'cpu', '--runtime', 'tfjs', '--trainer', fixture.trainer, '--out', 'never-made'],
    "--device cpu: it is ONNX Runtime's; with --runtime tfjs, the package that is installed decides. Remove one.",
  ],
])('%s with %s and %j is told in one line', async (command, policy, flags, message) => {
  const { code, stderr } = await runCli(command, fixture.env, '--policy', policy, ...flags);
  expect({ code, stderr }).toEqual({ code: 2, stderr: `toolenv: ${message}\n` });
});
