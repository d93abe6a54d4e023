/** Task folders are read as Harbor's documents say, and what cannot be played is refused by file and key. */
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { TaskPolicy } from '../src/task/harbor-task.ts';
import { readTask } from '../src/task/read-task.ts';
import { findTasks } from '../src/task/read-tasks.ts';
import { newFolder, smallest, writeFiles } from './task-folder.ts';

const strict: TaskPolicy = { network: 'none', verifier: 'fresh', hostVariables: [] };

async function read(files: Record<string, string | undefined>, policy: Partial<TaskPolicy> = {}) {
  await using made = await newFolder();
  const folder = await writeFiles(join(made.folder, 'sum'), { ...smallest, ...files });
  const task = await readTask(folder, { ...strict, ...policy });
  return JSON.parse(JSON.stringify(task).replaceAll(folder, '')) as typeof task;
}

/** The error of a task whose task.toml is this. */
async function refusal(toml: string, policy: Partial<TaskPolicy> = {}, files = {}): Promise<string> {
  const error = await read({ 'task.toml': toml, ...files }, policy).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'usage.harbor_task' });
  return (error as Error).message.replace(/^.*?(?=task\.toml|instruction|tests|environment)/, '');
}

test('the smallest task has the defaults: no time-out for the agent, ten minutes for the verifier, no network', async () => {
  const box = { image: { name: 'busybox' }, env: {}, network: false };
  expect(await read({})).toEqual({
    name: 'sum',
    folder: '',
    box,
    steps: [
      {
        name: '',
        instruction: 'Write 42 into /work/out.txt.',
        agent: { user: '' },
        verifier: {
          kind: 'fresh',
          box,
          isOffline: false,
          carriesChanges: false,
          tests: ['/tests'],
          timeout: 600_000,
          env: {},
          user: '',
          artifacts: [
            { source: '/logs/artifacts', exclude: [] },
            { source: '/work/out.txt', exclude: [] },
          ],
          collect: [],
        },
        minReward: {},
      },
    ],
    strategy: 'mean',
    isOffline: false,
    solutionEnv: {},
  });
});

test('health checks have the defaults of Harbor, in milliseconds', async () => {
  const toml = `[environment]\ndocker_image = "busybox"\nnetwork_mode = "no-network"\n[environment.healthcheck]\ncommand = "true"\n`;
  const steps = `[[steps]]\nname = "one"\n[steps.healthcheck]\ncommand = "test -e x"\ninterval_sec = 0.5\nretries = 7\nstart_period_sec = 2\n`;
  const { box, steps: read1 } = await read({
    'task.toml': toml + steps,
    'steps/one/instruction.md': 'Do it.',
    'steps/one/tests/test.sh': 'true',
  });
  const usual = { timeout: 30_000, interval: 5000, retries: 3, startPeriod: 0, startInterval: 5000 };
  expect(box.health).toEqual({ ...usual, command: 'true' });
  const own = { command: 'test -e x', interval: 500, retries: 7, startPeriod: 2000 };
  expect(read1[0]!.health).toEqual({ ...usual, ...own });
});

const whole = `
schema_version = "1.4"
artifacts = [{ source = "/app/", exclude = ["*.pyc", "cache"], destination = "app", service = "main" }]
[task]
name = "acme/whole"
keywords = ["a"]
[metadata]
difficulty = "hard"
created = 2026-01-01
[agent]
timeout_sec = 120.5
user = 1000
[verifier]
timeout_sec = 30
user = "root"
env = { KEY = "a" }
[verifier.environment]
cpus = 1
[[verifier.collect]]
command = "dump > /app/state"
timeout_sec = 5
[environment]
build_timeout_sec = 60
cpus = 2.5
memory = "2G"
storage_mb = 512
workdir = "/app"
allow_internet = false
env = { A = "1", B = "\${TOOLENV_TEST_B}-\${TOOLENV_TEST_C:-c}" }
[solution]
env = { S = "s" }
`;

test('everything that a task may say is read', async () => {
  vi.stubEnv('TOOLENV_TEST_B', 'b');
  vi.stubEnv('TOOLENV_TEST_C', 'not allowed');
  const files = { 'environment/Dockerfile': 'FROM busybox', 'solution/solve.sh': 'true' };
  const instruction = '<!-- the canary of a benchmark -->\n# canary 1\n\nDo it.\n';
  const task = await read(
    { 'task.toml': whole, 'instruction.md': instruction, ...files },
    { hostVariables: ['TOOLENV_TEST_B'] },
  );
  const image = { context: '/environment', timeout: 60_000 };
  expect(task.box).toEqual({
    image,
    env: { A: '1', B: 'b-c' },
    workdir: '/app',
    cpus: 2.5,
    memory: 2048,
    storage: 512,
    network: false,
  });
  expect(task.solutionEnv).toEqual({ S: 's' });
  const [step] = task.steps;
  expect(step).toMatchObject({
    instruction: 'Do it.',
    solution: '/solution',
    agent: { user: '1000', timeout: 120_500 },
  });
  expect(step!.verifier).toEqual({
    kind: 'fresh',
    // The agent's image, with what the verifier's own table says of the rest.
    box: { image, env: {}, cpus: 1, network: false },
    isOffline: false,
    carriesChanges: false,
    tests: ['/tests'],
    timeout: 30_000,
    env: { KEY: 'a' },
    user: 'root',
    artifacts: [
      { source: '/logs/artifacts', exclude: [] },
      { source: '/app', exclude: ['*.pyc', 'cache'] },
    ],
    collect: [{ command: 'dump > /app/state', timeout: 5000, user: '' }],
  });
});

test('steps have their own instruction, tests, solution and limits, over those of the task', async () => {
  const toml = `
multi_step_reward_strategy = "final"
artifacts = ["/work/a"]
[environment]
docker_image = "busybox"
[agent]
timeout_sec = 10
[verifier]
timeout_sec = 20
env = { A = "1", B = "1" }
[[steps]]
name = "one"
min_reward = 0.5
[[steps]]
name = "two"
min_reward = { tests = 1 }
artifacts = ["/work/b"]
[steps.agent]
timeout_sec = 11
[steps.verifier]
timeout_sec = 21
env = { B = "2" }
`;
  const files = {
    'task.toml': toml,
    'instruction.md': undefined,
    'tests/test.sh': undefined,
    'tests/common.sh': '',
    'steps/one/instruction.md': 'First.',
    'steps/one/tests/test.sh': '',
    'steps/one/solution/solve.sh': '',
    'steps/two/instruction.md': 'Second.',
    'steps/two/tests/test.sh': '',
    'steps/two/workdir/setup.sh': '',
  };
  const { strategy, steps } = await read(files);
  expect(strategy).toBe('final');
  const [one, two] = steps;
  expect(one).toMatchObject({
    name: 'one',
    instruction: 'First.',
    solution: '/steps/one/solution',
    agent: { timeout: 10_000 },
    minReward: { reward: 0.5 },
  });
  expect(one!.verifier).toMatchObject({
    tests: ['/tests', '/steps/one/tests'],
    timeout: 20_000,
    env: { A: '1', B: '1' },
  });
  expect(two).toMatchObject({
    name: 'two',
    agent: { timeout: 11_000 },
    workdir: '/steps/two/workdir',
    minReward: { tests: 1 },
  });
  expect(two!.solution).toBeUndefined();
  expect(two!.verifier).toMatchObject({ timeout: 21_000, env: { A: '1', B: '2' } });
  expect(two!.verifier.artifacts.map(({ source }) => source)).toEqual([
    '/logs/artifacts',
    '/work/a',
    '/work/b',
  ]);
});

const image = '[environment]\ndocker_image = "busybox"\n';
const declared = `artifacts = ["/out"]\n${image}`;

test.each([
  ['a mistake of TOML', 'artifacts = [', 'task.toml: it cannot be read: '],
  ['an unknown key', `${declared}colour = "red"`, 'task.toml: environment.colour: no such key is known'],
  ['a misspelt key', `artefacts = ["/out"]\n${image}`, 'did you mean artifacts'],
  [
    'a wrong type',
    `${declared}cpus = "2"`,
    'task.toml: environment.cpus: expected it must be number; received "2"',
  ],
  ['a time of zero', `${declared}[agent]\ntimeout_sec = 0`, 'task.toml: agent.timeout_sec: '],
  ['an infinite time', `${declared}[agent]\ntimeout_sec = inf`, 'task.toml: agent.timeout_sec: '],
  ['a newer format', `schema_version = "2.0"\n${declared}`, 'task.toml: schema_version: '],
  [
    'another system',
    `${declared}os = "Windows"`,
    'task.toml: environment.os: containers of Windows are not supported',
  ],
  ['a GPU', `${declared}gpus = 1`, 'task.toml: environment.gpus: '],
  ['a TPU', `${declared}[environment.tpu]\ntype = "v6e"`, 'task.toml: environment.tpu: '],
  [
    'MCP servers',
    `${declared}[[environment.mcp_servers]]\nname = "x"`,
    'task.toml: environment.mcp_servers: ',
  ],
  ['skills', `${declared}skills_dir = "/skills"`, 'task.toml: environment.skills_dir: '],
  [
    'a health check of a verifier',
    `${declared}[verifier.environment]\ndocker_image = "x"\n[verifier.environment.healthcheck]\ncommand = "true"`,
    'task.toml: verifier.environment.healthcheck: the containers of verifiers have no health check',
  ],
  [
    'a health check without a command',
    `${declared}[environment.healthcheck]\nretries = 2`,
    'task.toml: environment.healthcheck.command: ',
  ],
  [
    'another service',
    `artifacts = [{ source = "/x", service = "db" }]\n${image}`,
    'task.toml: artifacts[0].service: ',
  ],
  [
    'a hook of another service',
    `${declared}[[verifier.collect]]\ncommand = "x"\nservice = "db"`,
    'task.toml: verifier.collect[0].service: ',
  ],
  ['no image', 'artifacts = ["/out"]', 'task.toml: environment: there is neither docker_image nor '],
  [
    'a relative artifact',
    `artifacts = ["out"]\n${image}`,
    'task.toml: artifacts[0]: "out" must be an absolute path',
  ],
  ['an artifact outside', `artifacts = ["/out/../etc"]\n${image}`, 'task.toml: artifacts[0]: '],
  ['an artifact that holds the tests', `artifacts = ["/"]\n${image}`, 'it would replace /tests'],
  [
    'an artifact that holds the reward',
    `artifacts = ["/logs/verifier/reward.txt"]\n${image}`,
    'it would replace /logs/verifier',
  ],
  ['an artifact above the reward', `artifacts = ["/logs//"]\n${image}`, 'it would replace /logs/verifier'],
  [
    'a variable of the host',
    `${declared}env = { A = "\${HOME}" }`,
    'task.toml: environment.env.A: it needs the variable HOME: tasks read no variables of this machine unless the option hostVariables names them',
  ],
  ['a bad variable', `${declared}env = { "A-B" = "1" }`, 'task.toml: environment.env.A-B: '],
  ['a step outside', `${declared}[[steps]]\nname = ".."`, 'task.toml: steps[0].name: '],
  ['a step below', `${declared}[[steps]]\nname = "a/b"`, 'task.toml: steps[0].name: '],
])('%s is refused, and named', async (_, toml, message) => {
  expect(await refusal(toml)).toContain(message);
});

test('files that lack or describe several containers are named', async () => {
  const toml = smallest['task.toml']!;
  expect(await refusal(toml, {}, { 'tests/test.sh': undefined })).toContain(
    'tests/test.sh: there is no such file',
  );
  expect(await refusal(toml, {}, { 'instruction.md': ' \n' })).toContain('instruction.md: it is empty');
  expect(await refusal(toml, {}, { 'environment/docker-compose.yaml': '' })).toContain(
    'docker-compose.yaml: tasks of several containers',
  );
  expect(await refusal(toml, {}, { 'tests/docker-compose.yaml': '' })).toContain(
    'docker-compose.yaml: tasks of several containers',
  );
  // Harbor knows no other name: such a file is what the task is about.
  for (const name of ['docker-compose.yml', 'compose.yaml'])
    expect((await read({ [`environment/${name}`]: 'services: {}' })).name).toBe('sum');
  const steps = `${declared}[[steps]]\nname = "a"\n[[steps]]\nname = "A"\n`;
  const files = { 'steps/a/instruction.md': 'x', 'steps/A/instruction.md': 'x' };
  expect(await refusal(steps, {}, files)).toContain('steps[1].name: "A" is the name of an earlier step');
});

/** How the only step of a task is judged. */
async function verifierOf(toml: string, policy: Partial<TaskPolicy> = {}, files = {}) {
  return (await read({ 'task.toml': toml, ...files }, policy)).steps[0]!.verifier;
}

test('a task that declares no artifacts, or wants the whole container, is judged by what has changed', async () => {
  const own = { 'tests/Dockerfile': 'FROM busybox' };
  const changed = await verifierOf(image, {}, own);
  expect(changed).toMatchObject({ kind: 'fresh', carriesChanges: true, artifacts: [], tests: ['/tests'] });
  // Changes belong to the agent's image.
  expect(changed.box.image).toEqual({ name: 'busybox' });
  const shared = '[verifier]\nenvironment_mode = "shared"';
  expect(await verifierOf(declared + shared)).toMatchObject({
    kind: 'fresh',
    carriesChanges: true,
    artifacts: [{ source: '/out' }],
  });
  expect(await verifierOf(declared)).toMatchObject({ kind: 'fresh', carriesChanges: false });
  const separate = '[verifier]\nenvironment_mode = "separate"';
  expect(await verifierOf(image + separate)).toMatchObject({ kind: 'fresh', carriesChanges: false });
});

test('the option verifier judges in the container of the agent, unless the task has a verifier of its own', async () => {
  const kind = async (toml: string) => (await verifierOf(toml, { verifier: 'shared' })).kind;
  expect(await kind(image)).toBe('shared');
  expect(await kind(declared)).toBe('shared');
  expect(await kind(`${image}[verifier]\nenvironment_mode = "separate"`)).toBe('fresh');
});

test('a network that a task asks for is given to nobody, to the tests, or to the agent too', async () => {
  const networks = async (toml: string, network: TaskPolicy['network']) => {
    const { box, steps, isOffline } = await read({ 'task.toml': declared + toml }, { network });
    return [box.network, steps[0]!.verifier.box.network, isOffline];
  };
  const [all, agents, tests] = [
    [
      'network_mode = "public"',
      'network_mode = "allowlist"\nallowed_hosts = ["a.org"]',
      'allow_internet = true',
    ],
    'allow_internet = true\n[verifier]\nnetwork_mode = "no-network"',
    'network_mode = "public"\n[agent]\nnetwork_mode = "no-network"',
  ];
  expect(await networks('', 'declared')).toEqual([false, false, false]);
  for (const toml of all) {
    expect(await networks(toml, 'none'), toml).toEqual([false, false, true]);
    expect(await networks(toml, 'verifier'), toml).toEqual([false, true, true]);
    expect(await networks(toml, 'declared'), toml).toEqual([true, true, false]);
  }
  expect(await networks(agents, 'declared')).toEqual([true, false, false]);
  expect(await networks(tests, 'declared')).toEqual([false, true, false]);
  expect(await networks(tests, 'verifier')).toEqual([false, true, false]);
  expect(await networks(tests, 'none')).toEqual([false, false, true]);
});

test("a verifier's own image has its tests", async () => {
  const own = `${declared}[verifier.environment]\ndocker_image = "judge"`;
  expect((await read({ 'task.toml': own, 'tests/test.sh': undefined })).steps[0]!.verifier).toMatchObject({
    box: { image: { name: 'judge' } },
    tests: [],
  });
  const built = { 'task.toml': declared, 'tests/Dockerfile': 'FROM busybox' };
  expect((await read(built)).steps[0]!.verifier).toMatchObject({
    box: { image: { context: '/tests', timeout: 600_000 } },
    tests: [],
  });
});

test('tasks are found in a folder, and in folders named after the splits', async () => {
  await using made = await newFolder();
  const { folder } = made;
  const toml = { 'task.toml': '' };
  await expect(findTasks(folder, 'test')).rejects.toMatchObject({ code: 'usage.harbor_tasks' });
  await expect(findTasks(join(folder, 'none'), 'test')).rejects.toThrow('none cannot be read');
  for (const name of ['b', 'a', 'validation/c', 'train/d']) await writeFiles(join(folder, name), toml);
  await writeFiles(join(folder, 'no-task'), { 'readme.md': '' });
  expect(await findTasks(folder, 'test')).toEqual({
    train: [join(folder, 'train/d')],
    validation: [join(folder, 'validation/c')],
    test: [join(folder, 'a'), join(folder, 'b')],
  });
  expect((await findTasks(join(folder, 'a'), 'validation')).validation).toEqual([join(folder, 'a')]);
});
