/** Manifests of plugins: listed as `toolenv list` does, and loaded by every reference that is found. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listPlugins, loadPlugin } from '@toolenv/core/plugins';
import { runProgram } from '../../../packages/cli/src/program.ts';
import { mutateBytes, mutateJson } from './mutate.ts';
import { type Subject, withoutOutput } from './subject.ts';
import { wrongError } from './wrong-error.ts';

const json = JSON.stringify({
  name: '@chaos/plugins',
  version: '1.0.0',
  type: 'module',
  exports: { './safe-v1': './safe-v1.js', './other-v1': { default: './other-v1.js' } },
  toolenv: {
    spec: 'v1',
    envs: { 'safe-v1': './safe-v1', 'other-v1': './other-v1' },
    tools: { 'search-v1': './search-v1' },
  },
});

export const manifests: Subject = {
  async damage(rng, folder) {
    const own = join(folder, 'node_modules/@chaos/plugins');
    await mkdir(own, { recursive: true });
    const isJson = rng.int(3) > 0;
    await writeFile(
      join(own, 'package.json'),
      isJson ? mutateJson(rng, json) : mutateBytes(rng, Buffer.from(json)),
    );
    await writeFile(join(own, 'safe-v1.js'), 'export default { name: "safe-v1" };\n');
    await writeFile(join(own, 'other-v1.js'), 'export default 7;\n');
    return isJson ? 'a field' : 'bytes';
  },
  async use(folder) {
    process.chdir(folder);
    await withoutOutput(() => runProgram(['list'], new AbortController().signal));
    for (const { ref, kind } of listPlugins(folder)) {
      if (ref.startsWith('@toolenv/')) continue;
      try {
        await loadPlugin(kind, ref, { from: folder });
      } catch (error) {
        const wrong = wrongError(error);
        if (wrong) throw new Error(wrong);
      }
    }
  },
};
