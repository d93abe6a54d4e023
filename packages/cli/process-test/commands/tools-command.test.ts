/** `toolenv tools`, and the same flags where an environment of MCP servers is opened. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixture } from '../../test/fixture.ts';
import { runCli } from '../../test/run-cli.ts';

const json = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
const program = join(dirname(json), 'dist', 'index.js');
const server = `'${process.execPath}' '${program}'`;

let folder: string;
let definition: string;
beforeAll(async () => {
  // Inside this package, where the packages of the environment are found.
  folder = await mkdtemp(join(import.meta.dirname, '.tools-'));
  definition = join(folder, 'env.ts');
  const given = { command: process.execPath, args: [program] };
  await writeFile(
    definition,
    `import { defineMcpEnv } from '@toolenv/mcp';
export default defineMcpEnv({
  name: 'variables-v1',
  server: ${JSON.stringify(given)},
  tasks: [{ prompt: 'Go.' }],
  async episode({ call }) {
    const { text } = await call('get-env');
    const { A, B } = JSON.parse(text);
    return { messages: JSON.stringify({ A, B }) };
  },
});
`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

const variables = ['--env', 'A={"x": 1, "y": 2}', '--env', 'B=1,2'];
const expected = { A: '{"x": 1, "y": 2}', B: '1,2' };

it('passes repeated flags and values with commas to the server', async () => {
  const called = await runCli('tools', '--mcp', server, ...variables, '--call', 'get-env');
  expect(called).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(called.stdout)).toMatchObject(expected);
});

it('as a command that opens an environment does', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-tools-')), 'played.jsonl');
  const played = await runCli('eval', definition, '--policy', fixture.policy, ...variables, '--out', out);
  expect(played).toMatchObject({ code: 0 });
  const shown = await runCli('show', out, '--json');
  const { steps } = JSON.parse(shown.stdout.split('\n')[0]!);
  expect(JSON.parse(steps[0].observation.messages[0].content)).toEqual(expected);
});

it('lists only some tools', async () => {
  const listed = await runCli('tools', '--mcp', server, '--only', 'echo', '--only', 'get-sum', '--json');
  expect(JSON.parse(listed.stdout).map(({ name }: { name: string }) => name)).toEqual(['echo', 'get-sum']);
});
