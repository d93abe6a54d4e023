/** `npm run interop -- harbor`: a broken task of each kind is counted by its reason, and stops none of the others. */
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newFolder, smallest, writeFiles } from '../../packages/envs-harbor/test/task-folder.ts';
import { harborCorpus, reportHarbor } from '../interop/harbor.ts';

const image = '[environment]\ndocker_image = "busybox"\n';
const declared = `artifacts = ["/out"]\n${image}`;
const toml = (text: string) => ({ ...smallest, 'task.toml': text });

const broken: Record<string, Record<string, string | undefined>> = {
  artifact: toml(`artifacts = ["/"]\n${image}`),
  compose: { ...smallest, 'environment/docker-compose.yaml': 'services: {}\n' },
  'gpu-1': toml(`${declared}gpus = 1`),
  'gpu-2': toml(`${declared}gpus = 4`),
  'health-check': toml(`${declared}[environment.healthcheck]\nretries = 2`),
  'mcp-server': toml(`${declared}[[environment.mcp_servers]]\nname = "x"`),
  'no-image': toml('artifacts = ["/out"]'),
  'no-instruction': { ...smallest, 'instruction.md': undefined },
  'no-tests': { ...smallest, 'tests/test.sh': undefined },
  'no-toml': toml('artifacts = ['),
  service: toml(`artifacts = [{ source = "/x", service = "db" }]\n${image}`),
  skills: toml(`${declared}skills_dir = "/skills"`),
  'step-outside': toml(`${declared}[[steps]]\nname = ".."`),
  tpu: toml(`${declared}[environment.tpu]\ntype = "v6e"`),
  'unknown-key': toml(`${declared}colour = "red"`),
  windows: toml(`${declared}os = "windows"`),
};
const good: typeof broken = {
  plain: smallest,
  open: toml(`${image}allow_internet = true\n`),
  variable: toml(`${declared}env = { A = "\${TOOLENV_TEST_KEY}" }`),
};

test('counts what the defaults and each option open, and every refusal by its reason', async () => {
  vi.stubEnv('TOOLENV_TEST_KEY', 'a');
  await using made = await newFolder();
  for (const [name, files] of Object.entries({ ...broken, ...good }))
    await writeFiles(join(made.folder, name), files);

  const { tasks, opened, refusals } = await harborCorpus(made.folder);
  expect(tasks).toBe(19);
  const none = { offline: 0, changes: 0, shared: 0 };
  expect(opened).toEqual([
    { flags: 'the defaults', open: 2, ...none, offline: 1, changes: 1 },
    { flags: '--network verifier', open: 2, ...none, offline: 1, changes: 1 },
    { flags: '--network declared', open: 2, ...none, changes: 1 },
    { flags: '--verifier shared', open: 2, ...none, offline: 1, shared: 2 },
    { flags: '--host-variables TOOLENV_TEST_KEY', open: 3, ...none, offline: 1, changes: 1 },
  ]);
  // The GPUs are one kind.
  expect(refusals.map(([, folders]) => folders.length)).toEqual([2, ...Array(15).fill(1)]);
  const named = refusals.flatMap(([, folders]) =>
    folders.map((folder) => folder.slice(made.folder.length + 1)),
  );
  expect(named.sort()).toEqual([...Object.keys(broken), 'variable'].sort());
});

test('prints a line for each setting and each reason, and fails for a folder of which too little opens', async () => {
  await using made = await newFolder();
  for (const name of ['plain', 'open']) await writeFiles(join(made.folder, name), good[name]!);
  for (const name of ['gpu-1', 'gpu-2']) await writeFiles(join(made.folder, name), broken[name]!);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const checks: [holds: boolean, difference: string][] = [];
  await reportHarbor(made.folder, (holds, _, difference) => checks.push([holds, difference]));
  expect(printed.mock.calls.flat()).toEqual([
    'the defaults: 2 of 4 (50.0 %) open, 1 without a network that they ask for, 1 judged by what has changed',
    '--network verifier: 2 of 4 (50.0 %) open, 1 without a network that they ask for, 1 judged by what has changed',
    '--network declared: 2 of 4 (50.0 %) open, 1 judged by what has changed',
    "--verifier shared: 2 of 4 (50.0 %) open, 1 without a network that they ask for, 2 judged in the agent's container",
    'The defaults refuse 2:',
    '- 2, such as gpu-1: task.toml: environment.gpus: containers get no GPU: leave this task out.',
  ]);
  expect(checks).toEqual([
    [false, '2 of 4 (50.0 %)'],
    [true, '2 of 2 are played'],
  ]);
});
