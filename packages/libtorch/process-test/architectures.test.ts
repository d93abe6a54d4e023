/** Every architecture on libtorch, compared with transformers. */
import { afterAll, beforeAll, describe } from 'vitest';
import { testArchitectures } from '../../policy/test/model/architecture-tests.ts';
import { type LibtorchRuntime, libtorchRuntime } from '../src/libtorch-runtime.ts';
import { hasLibtorch } from './has-libtorch.ts';

describe.runIf(hasLibtorch)('libtorch', () => {
  let libtorch: LibtorchRuntime;
  beforeAll(async () => {
    libtorch = await libtorchRuntime();
  });
  afterAll(() => libtorch.close());

  testArchitectures(() => libtorch);
});
