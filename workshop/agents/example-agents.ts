/** The agents of examples/agents, and whether they and their episodes follow the rules of the spec. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { collect, type EnvDefinition, openEnv, rollout } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import { loadPolicy } from '@toolenv/policy';
import { checkEnv, checkTrajectory, type Report } from '@toolenv/testing';

const folder = join(import.meta.dirname, '../../examples/agents');

/** The files whose packages are installed. `command.ts` needs none. */
export async function exampleAgents(): Promise<string[]> {
  const isInstalled =
    existsSync(join(folder, 'node_modules')) && Number(process.versions.node.split('.')[0]) >= 22;
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts') && file !== 'bridge-agent.ts');
  return isInstalled ? files : files.filter((file) => file === 'command.ts');
}

/** The reports on the environment, and on the episodes that the tiny policy plays in it. */
export async function checkExample(
  file: string,
  { actions = 1000, episodes = 16 }: { actions?: number; episodes?: number } = {},
): Promise<Report[]> {
  const { default: definition } = (await import(join(folder, file))) as { default: EnvDefinition };
  const report = await checkEnv(definition, { actions });
  await using policy = await loadPolicy('packages/checkpoints/tiny');
  await using env = await openEnv(definition);
  const tasks = await Promise.all(Array.from({ length: episodes }, (_, i) => env.tasks.train.get(i)));
  const played = await collect(
    rollout({
      ...{ env, policy, concurrency: episodes, seed: 1, sampling: { maxTokens: 64, temperature: 1 } },
      episodes: tasks.map((task, group) => ({ task, group, sample: 0 })),
    }),
  );
  const lines = played.map((trajectory) => checkTrajectory(encodeTrajectory(trajectory)));
  return [report, ...(await Promise.all(lines))];
}
