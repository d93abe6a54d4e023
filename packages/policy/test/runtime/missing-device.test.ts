/** The error for a device without a driver. */
import { expect, test } from 'vitest';
import { probeDevice } from '../../src/runtime/probe-device.ts';
import { createPolicy } from '../../src/transformer-policy.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

// A machine with a GPU has a driver.
test.skipIf(probeDevice('webgpu').runs)(
  'a device without a driver is refused when a policy is opened',
  async () => {
    await expect(createPolicy(wordCheckpoint(), { device: 'webgpu' })).rejects.toMatchObject({
      code: 'usage.device',
      message: expect.stringMatching(
        /^Device webgpu cannot be used \(.+\): choose another device, such as cpu\.$/,
      ),
    });
  },
);
