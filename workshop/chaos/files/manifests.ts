/** Manifests of plugins: listed as `toolenv list` does, and loaded by every reference that is found. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listPlugins, loadPlugin } from '@toolenv/core/plugins';
import { runProgram } from '../../../packages/cli/src/program.ts';
import { mutateBytes, mutateJson } from './mutate.ts';
import { type Subject, withoutOutput, wrongError } from './subject.ts';

const json = JSON.stringify({
  name: '@chaos/plugins',
  version: '1.0.0',
  type: 'module',
  exports: { './first-v1': './first-v1.js', './second-v1': { default: './second-v1.js' } },
  toolenv: {
    spec: 'v1',
    envs: { 'first-v1': './first-v1', 'second-v1': './second-v1' },
  },
});

/** What the manifest names before it is damaged. */
const undamaged = (['first-v1', 'second-v1'] as const).map((name) => ({
  kind: 'envs' as const,
  ref: `@chaos/plugins/${name}`,
}));

export const manifests: Subject = {
  async damage(rng, folder) {
    const own = join(folder, 'node_modules/@chaos/plugins');
    await mkdir(own, { recursive: true });
    const isJson = rng.int(3) > 0;
    await writeFile(
      join(own, 'package.json'),
      isJson ? mutateJson(rng, json) : mutateBytes(rng, Buffer.from(json)),
    );
    for (const file of ['first-v1.js', 'second-v1.js'])
      await writeFile(join(own, file), 'export default {};\n');
    return isJson ? 'a field' : 'bytes';
  },
  async use(folder) {
    process.chdir(folder);
    await withoutOutput(() => runProgram(['list'], new AbortController().signal));
    const found = listPlugins(folder).filter(({ ref }) => !ref.startsWith('@toolenv/'));
    const refusals: unknown[] = [];
    for (const { ref, kind } of [...found, ...undamaged]) {
      await loadPlugin(kind, ref, { from: folder }).catch((error: unknown) => refusals.push(error));
    }
    const worst = refusals.find(wrongError) ?? refusals[0];
    if (worst) throw worst;
  },
};
