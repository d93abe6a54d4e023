/** What is said where a device has no driver. */
import { expect, test } from 'vitest';
import { probeDevice } from '../src/runtime/probe-device.ts';
import { createPolicy } from '../src/transformer-policy.ts';
import { wordCheckpoint } from './word-checkpoint.ts';

// Where there is a GPU, there is nothing to be refused.
test.skipIf(probeDevice('webgpu').runs)(
  'a device without a driver is refused as a policy is opened',
  async () => {
    await expect(createPolicy(wordCheckpoint(), { device: 'webgpu' })).rejects.toMatchObject({
      code: 'usage.device',
      message: expect.stringMatching(/^Device webgpu cannot be used \(.+\): choose another, as cpu\.$/),
    });
  },
);
