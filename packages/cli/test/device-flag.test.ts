/** `--device`: where a checkpoint's model is computed, and what cannot have one. */
import { join } from 'node:path';
import { devices } from '@toolenv/policy';
import { expect, it } from 'vitest';
import { deviceSchema } from '../src/device-flag.ts';
import { fixture, runCli } from './run-cli.ts';

const checkpoint = join(import.meta.dirname, '../../../tiny-policy/checkpoint');

it('takes every device that the policy package knows', () => {
  expect(deviceSchema.properties).toMatchObject({ device: { enum: ['auto', ...devices] } });
});

it('chooses one by itself', async () => {
  const args = ['eval', '@toolenv/envs-qa/lookup-v1', '--policy', checkpoint, '--count', '2', '--json'];
  const { code, stdout } = await runCli(...args, '--device', 'auto');
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
    checkpoint,
    ['--device', 'cpu', '--runtime', 'tfjs', '--trainer', fixture.trainer, '--out', 'never-made'],
    "--device cpu: it is ONNX Runtime's; with --runtime tfjs, the package that is installed decides. Remove one.",
  ],
])('%s with %s and %j is told in one line', async (command, policy, flags, message) => {
  const { code, stderr } = await runCli(command, fixture.env, '--policy', policy, ...flags);
  expect({ code, stderr }).toEqual({ code: 2, stderr: `toolenv: ${message}\n` });
});
