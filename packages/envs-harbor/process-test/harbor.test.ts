/** Tasks in Harbor's format, played in containers of podman where it is installed. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { openEnv, playTask, type Scripted } from '@toolenv/core';
import { recordEnv, replayEnv } from '@toolenv/core/recording';
import { assertConforms, checkEnv } from '@toolenv/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { image, missing, PodmanService } from '../../sandbox/process-test/podman-service.ts';
import { ownLabels } from '../../sandbox/src/process-owner.ts';
import harbor from '../src/harbor-v1.ts';
import { newFolder, smallest, writeFiles } from '../test/task-folder.ts';
import { changeAttacks, commandAttacks, programAttacks } from './harbor-attacks.ts';
import { copyTasks, taskNamed } from './harbor-tasks.ts';

const bash = (command: string): Scripted => [{ name: 'bash', arguments: { command } }];
const solved =
  'awk \'$2 == "ERROR" { n[$3]++ } END { for (s in n) print s, n[s] }\' /app/logs/* | sort > /app/errors.txt';

/** Containers of this process, also those that have ended. */
function containers(): string {
  const labels = ['--filter', `label=dev.toolenv.owner=${ownLabels()['dev.toolenv.owner']}`];
  return execFileSync('podman', ['ps', '--all', '--quiet', ...labels]).toString();
}

describe.skipIf(missing)(`harbor-v1${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const service = new PodmanService();
  let made: Awaited<ReturnType<typeof newFolder>>;
  let env: Awaited<ReturnType<typeof open>>;
  const open = (options = {}, settings = {}) =>
    openEnv(
      harbor,
      { tasks: made.folder, socket: service.socket, ...options },
      { from: import.meta.dirname, ...settings },
    );

  beforeAll(async () => {
    await service.start();
    made = await newFolder();
    await copyTasks(made.folder);
    env = await open();
  });
  afterAll(async () => {
    await env?.close();
    const left = containers();
    service.stop();
    await made[Symbol.asyncDispose]();
    expect(left).toBe('');
  });

  async function play(name: string, script?: readonly Scripted[], opened = env) {
    const task = await taskNamed(opened, name);
    const trajectory = await playTask(opened, task, script ?? harbor.oracle!(task)!);
    const verdicts = trajectory.steps.flatMap(({ environmentCalls = [] }) =>
      environmentCalls.map(({ text }) => JSON.parse(text) as { reward: number; failed?: string }),
    );
    return { ...trajectory, verdicts };
  }

  // `npm run chaos -- harbor` checks every rule: that takes a hundred containers.
  test('the reference solution wins, and doing nothing loses', async () => {
    const options = { tasks: join(made.folder, 'errors'), socket: service.socket };
    const rules = ['ENV-32', 'ENV-33'] as const;
    const check = checkEnv(harbor, { options, rules, timeout: 240_000, from: import.meta.dirname });
    expect((await assertConforms(check)).passed).toEqual(rules);
  }, 600_000);

  test.each(['reverse', 'stock', 'undeclared'])('the reference solution of %s scores 1', async (name) => {
    const { reward, outcome, steps } = await play(name);
    expect({ reward, outcome, steps: reward === 1 ? [] : steps }).toEqual({
      reward: 1,
      outcome: { kind: 'terminated', reason: 'answered' },
      steps: [],
    });
  });

  test('a container is used when its health check succeeds, and an agent that breaks it scores 0', async () => {
    const tries = 'n=$(cat /tmp/n || echo 0); echo $((n + 1)) > /tmp/n; [ $n -ge 2 ]';
    const step = (name: string) =>
      `[[steps]]\nname = "${name}"\n[steps.healthcheck]\ncommand = "test ! -e /app/broken"\ninterval_sec = 0\nretries = 2\n`;
    const check = (command: string) =>
      `[environment.healthcheck]\ncommand = '${command}'\ninterval_sec = 0.05\nretries = 3\n`;
    const tests = '#!/bin/sh\ncp /app/tries /logs/verifier/reward.txt\n';
    const files = (command: string) => ({
      'task.toml': `artifacts = ["/app/tries"]\n[environment]\nmemory_mb = 64\n${check(command)}${step('one')}${step('two')}`,
      'environment/Dockerfile': `FROM ${image}\nRUN mkdir -p /app\nWORKDIR /app\n`,
      ...Object.fromEntries(
        ['one', 'two'].flatMap((name) => [
          [`steps/${name}/instruction.md`, 'Count.'],
          [`steps/${name}/tests/test.sh`, tests],
        ]),
      ),
    });
    await using folder = await newFolder();
    await writeFiles(join(folder.folder, 'ready'), files(tries));
    await writeFiles(join(folder.folder, 'never'), files('echo no port >&2; false'));
    await using opened = await open({ tasks: folder.folder });
    // The third attempt has succeeded.
    const works = bash('echo "0.$(cat /tmp/n)" > /app/tries');
    const fine = await play('ready', [works, 'Done.', works, 'Done.'], opened);
    expect(fine).toMatchObject({ reward: 0.3, outcome: { kind: 'terminated' } });
    const broken = await play('ready', [works, 'Done.', bash('touch /app/broken'), 'Done.'], opened);
    expect(broken.reward).toBe(0.3);
    const breaks = bash('echo "0.$(cat /tmp/n)" > /app/tries; touch /app/broken');
    const cut = await play('ready', [breaks, 'Done.', works, 'Done.'], opened);
    expect([cut.reward, cut.verdicts.at(-1)!.failed]).toEqual([
      0.15,
      expect.stringContaining('the health check "test ! -e /app/broken" has failed 2 times'),
    ]);
    expect((await play('never', [works, 'Done.'], opened)).outcome).toMatchObject({
      kind: 'aborted',
      cause: {
        code: 'infrastructure.harbor_setup',
        message: expect.stringMatching(/failed 3 times: no port: repair/),
      },
    });
  });

  test('a step that earns too little ends the task, and the steps after it count as 0', async () => {
    const { verdicts, reward, steps } = await play('stock', ['Done.']);
    expect([verdicts.length, reward, steps.length]).toEqual([1, 0, 1]);
    const count = 'sort shelf/* | uniq -c | awk \'{ print $2 "," $1 }\' > stock.csv';
    const half = await play('stock', [bash(count), 'Done.', bash('cat wanted.csv'), 'Done.']);
    expect(half.steps[2]!.calls[0]!.text).toBe('bolt,5\nnail,2\nnut,6');
    expect(half.verdicts.map(({ reward }) => reward)).toEqual([1, 0]);
    expect(half.reward).toBe(0.5);
  });

  test.each([
    'all of these',
    'FIFO',
    'link to what is expected',
    'sparse artifact',
    'full disk',
    'removed programs',
  ])('earns nothing: %s', async (what) => {
    const { reward, outcome } = await play('errors', [bash(commandAttacks[what]!), bash('echo on'), 'Done.']);
    expect({ reward, outcome }).toMatchObject({ reward: 0, outcome: { kind: 'terminated' } });
  });

  test.each(Object.keys(changeAttacks))(
    'earns nothing in a task that declares no artifacts: %s',
    async (what) => {
      const script = [bash(changeAttacks[what]!), bash('echo on'), 'Done.'];
      const { reward, outcome } = await play('undeclared', script);
      expect({ reward, outcome }).toMatchObject({ reward: 0, outcome: { kind: 'terminated' } });
    },
  );

  test('what a verifier would execute is left behind, and named', async () => {
    const { verdicts } = await play('undeclared', [bash(changeAttacks['replaced programs']!), 'Done.']);
    expect(verdicts[0]).toMatchObject({
      leftBehind: expect.arrayContaining([
        expect.stringMatching(/^\/bin\/cmp /),
        expect.stringMatching(/^\/usr\/local\/bin\/cmp /),
        expect.stringMatching(/^\/etc\/ld\.so\.preload /),
      ]),
    });
  });

  test('right work counts, whatever was done beside it', async () => {
    const { reward, verdicts } = await play('errors', [
      bash(solved),
      bash(commandAttacks['all of these']!),
      'Done.',
    ]);
    expect([reward, verdicts[0]]).toMatchObject([1, { reward: 1 }]);
  });

  test.each(['forged reward', 'killed tests', 'left-over process'])(
    'earns nothing: a program that the tests run, with a %s',
    async (what) => {
      const program = `cat > reverse.sh << 'END'\n${programAttacks[what]}\nEND`;
      const { reward, outcome } = await play('reverse', [bash(program), 'Done.']);
      expect({ reward, outcome }).toMatchObject({ reward: 0, outcome: { kind: 'terminated' } });
    },
  );

  test('an episode that is cut off is judged as it is', async () => {
    await using short = await open({ maxTurns: 1 });
    const { reward, outcome } = await play('errors', [bash(solved)], short);
    expect({ reward, outcome }).toMatchObject({ reward: 1, outcome: { kind: 'truncated' } });
  });

  test('a recorded episode is scored the same without containers', async () => {
    const file = join(made.folder, 'calls.jsonl');
    for (const make of [recordEnv, replayEnv]) {
      const tap = await make(file);
      const socket = make === recordEnv ? service.socket : '/none.sock';
      const opened = await open({ socket }, { tap });
      expect((await play('errors', [bash(solved), 'Done.'], opened)).reward).toBe(1);
      await opened.close();
      await tap.finish();
    }
  });

  test('a shared verifier judges what is not declared, with a warning', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await using folder = await newFolder();
    const toml =
      '[environment]\ndocker_image = "localhost/toolenv-test-busybox"\nworkdir = "/app"\n[agent]\ntimeout_sec = 10';
    const judge = 'test -f "$HOME/done" && echo 1 > /logs/verifier/reward.txt';
    await writeFiles(join(folder.folder, 'own'), {
      ...smallest,
      'task.toml': toml,
      'tests/test.sh': `#!/bin/sh\n${judge}`,
    });
    await using opened = await open({ tasks: folder.folder, verifier: 'shared' });
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('forge its reward'), 'HarborTasks');
    const late = [bash('sleep 25'), bash('echo > ~/done'), 'Done.'];
    const { reward, verdicts, steps } = await play('own', late, opened);
    expect(steps[1]!.calls[0]!.text).toContain('The time of the task is over');
    expect([reward, verdicts[0]!.failed]).toEqual([
      0,
      'it wrote neither reward.txt nor reward.json: test.sh ended with code 1',
    ]);
    expect((await play('own', [bash('echo > ~/done; pwd'), 'Done.'], opened)).reward).toBe(1);
  });
});
