/** `--tool`: another plugin in the role of a tool. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTrajectories } from '@toolenv/core/recording';
import { beforeAll, expect, it } from 'vitest';
import { runCliIn } from '../run-cli.ts';

const checkpoint = join(import.meta.dirname, '../../../../packages/checkpoints/tiny');
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'toolenv-tool-'));
  const folder = join(project, 'node_modules', 'deaf-search');
  await mkdir(folder, { recursive: true });
  const json = {
    name: 'deaf-search',
    version: '1.0.0',
    type: 'module',
    exports: { './search-v1': './search.js' },
    toolenv: { spec: 'v1', tools: { 'search-v1': './search-v1' } },
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify(json));
  const source = `export default { create: async () => ({
    name: 'search', description: 'Find documents.', inputSchema: { type: 'object' },
    execute: async () => ({ content: [{ type: 'text', text: 'I cannot hear you.' }] }),
  }) };`;
  await writeFile(join(folder, 'search.js'), source);
});

function evaluate(...more: string[]) {
  const args = ['eval', '@toolenv/envs-qa/lookup-v1', '--policy', checkpoint, '--count', '4', ...more];
  return runCliIn(project, ...args);
}

it('takes the place of the environment’s own', async () => {
  const out = join(project, 'run');
  const { code, stderr } = await evaluate('--tool', 'search=deaf-search/search-v1', '--out', out);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const texts: string[] = [];
  for await (const { steps } of readTrajectories(join(out, 'trajectories.jsonl'))) {
    texts.push(...steps.flatMap(({ calls }) => calls.map(({ text }) => text)));
  }
  expect(texts.length).toBeGreaterThan(0);
  expect(new Set(texts)).toEqual(new Set(['I cannot hear you.']));
});

it.each([
  ['search', '--tool search: write it as role=reference'],
  ['serch=deaf-search/search-v1', 'has no role "serch". Did you mean "search"?'],
  [
    'search=deaf-search/serch-v1',
    'Unknown tool "deaf-search/serch-v1". Did you mean "deaf-search/search-v1"?',
  ],
])('refuses "%s" with a remedy', async (pair, message) => {
  const { code, stderr } = await evaluate('--tool', pair);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});
