/** Tasks in Harbor's format, played in containers of podman where it is installed. */
import { execFileSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEnv, playTask, type Scripted } from '@toolenv/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { image, missing, PodmanService } from '../../sandbox/slow-test/podman-service.ts';
import harbor from '../src/harbor/harbor-v1.ts';
import { newFolder } from '../test/harbor/task-folder.ts';

const examples = join(import.meta.dirname, '../../../examples/harbor');
const bash = (command: string): Scripted => [{ name: 'bash', arguments: { command } }];

describe.skipIf(missing)(
  `harbor-v1${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    const service = new PodmanService();
    let made: Awaited<ReturnType<typeof newFolder>>;
    let env: Awaited<ReturnType<typeof open>>;
    const open = () =>
      openEnv(harbor, { tasks: made.folder, socket: service.socket }, { from: import.meta.dirname });

    beforeAll(async () => {
      await service.start();
      made = await newFolder();
      for (const name of ['errors', 'reverse', 'stock']) {
        await cp(join(examples, name), join(made.folder, name), { recursive: true });
        const file = join(made.folder, name, 'environment/Dockerfile');
        await writeFile(file, (await readFile(file, 'utf8')).replace('FROM busybox', `FROM ${image}`));
      }
      env = await open();
    }, 120_000);
    afterAll(async () => {
      await env?.close();
      const left = execFileSync('podman', ['ps', '--all', '--quiet']).toString();
      service.stop();
      await made[Symbol.asyncDispose]();
      expect(left).toBe('');
    });

    async function play(name: string, script: readonly Scripted[]) {
      const length = await env.tasks.test.length;
      const tasks = await Promise.all(Array.from({ length }, (_, index) => env.tasks.test.get(index)));
      const task = tasks.find((each) => each.name === name)!;
      const trajectory = await playTask(env, task, script.length > 0 ? script : harbor.oracle!(task)!);
      const verdicts = trajectory.steps.flatMap(({ environmentCalls = [] }) =>
        environmentCalls.map(({ text }) => JSON.parse(text)),
      );
      return { ...trajectory, verdicts };
    }

    test.each(['errors', 'reverse', 'stock'])('the reference solution of %s scores 1, and no work 0', async (name) => {
      const { reward, outcome, verdicts, steps } = await play(name, []);
      expect({ reward, outcome, verdicts, said: reward === 1 ? '' : JSON.stringify(steps) }).toMatchObject({ reward: 1, outcome: { kind: 'terminated' } });
      expect((await play(name, ['Done.'])).reward).toBe(0);
    });
  },
  120_000,
);
