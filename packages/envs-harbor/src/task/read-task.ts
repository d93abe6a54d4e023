/** readTask: a task folder in Harbor's format → HarborTask. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { messageOf } from '@toolenv/core';
import type { BoxSpec, HarborStep, HarborTask, TaskPolicy } from './harbor-task.ts';
import { environmentImage, readBox, readHealth, refuseUnsupported } from './read-box.ts';
import { readVerifier } from './read-verifier.ts';
import {
  asksNetwork,
  fillVariables,
  readTaskFile,
  type StepTable,
  type TaskFile,
  taskMistake,
} from './task-file.ts';

/**
 * Reads a task folder.
 * @throws ToolEnvError `usage.harbor_task` that names the file, the key and the remedy.
 */
export async function readTask(given: string, policy: TaskPolicy): Promise<HarborTask> {
  const folder = resolve(given);
  const file = join(folder, 'task.toml');
  const table = await readTaskFile(file);
  refuseUnsupported(file, table);
  const asked = agentNetwork(file, table);
  const box = readBox(table.environment, {
    file,
    key: 'environment',
    policy,
    network: asked && policy.network === 'declared',
    image: environmentImage(table.environment, file, join(folder, 'environment')),
  });
  const tables = table.steps?.length ? table.steps : [undefined];
  const steps = await Promise.all(
    tables.map((step, index) => readStep(step, { index, folder, file, table, box, policy })),
  );
  refuseDoubled(file, steps);
  return {
    name: basename(folder),
    folder,
    box,
    steps,
    isOffline: (asked && !box.network) || steps.some(({ verifier }) => verifier.isOffline),
    strategy: table.multi_step_reward_strategy ?? 'mean',
    solutionEnv: fillVariables(table.solution?.env, {
      file,
      key: 'solution.env',
      allowed: policy.hostVariables,
    }),
  };
}

/** The agent works in one container, whose network is the same in all steps. */
function agentNetwork(file: string, { environment, agent, steps = [] }: TaskFile): boolean {
  const network = asksNetwork(environment, agent);
  const other = steps.findIndex((step) => asksNetwork(environment, agent, step.agent) !== network);
  if (other < 0) return network;
  throw taskMistake(
    file,
    `steps[${other}].agent.network_mode`,
    'all steps share a container and its network: set environment.network_mode instead',
  );
}

interface Place {
  index: number;
  folder: string;
  file: string;
  table: TaskFile;
  box: BoxSpec;
  policy: TaskPolicy;
}

async function readStep(step: StepTable | undefined, { index, ...place }: Place): Promise<HarborStep> {
  const { folder, table } = place;
  const own = step ? join(folder, 'steps', step.name) : folder;
  const { timeout_sec: time, user = '' } = { ...table.agent, ...step?.agent };
  const solution = [own, folder]
    .map((each) => join(each, 'solution'))
    .find((each) => existsSync(join(each, 'solve.sh')));
  const workdir = join(own, 'workdir');
  const minReward = step?.min_reward as number | Record<string, number> | undefined;
  return {
    name: step?.name ?? '',
    instruction: await readInstruction(join(own, 'instruction.md')),
    ...(solution !== undefined && { solution }),
    agent: { user: String(user), ...(time !== undefined && { timeout: time * 1000 }) },
    ...(step && existsSync(workdir) && { workdir }),
    ...(step?.healthcheck && { health: readHealth(step.healthcheck) }),
    verifier: readVerifier(step, { ...place, own, prefix: step ? `steps[${index}].` : '' }),
    minReward: typeof minReward === 'number' ? { reward: minReward } : (minReward ?? {}),
  };
}

/** Without the lines at its beginning that mark a benchmark's data for those who filter training data. */
async function readInstruction(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw taskMistake(file, '', `it cannot be read: ${messageOf(error)}`, error);
  }
  const lines = text.split('\n');
  while (/^(<!--.*canary.*-->|#.*canary.*)$/i.test(lines[0]?.trim() ?? '')) lines.shift();
  const instruction = lines.join('\n').trim();
  if (instruction === '') throw taskMistake(file, '', 'it is empty: write what the agent is to do');
  return instruction;
}

/** Names of steps are names of folders, also on machines that ignore the case. */
function refuseDoubled(file: string, steps: readonly HarborStep[]): void {
  const names = steps.map(({ name }) => name.normalize('NFC').toLowerCase());
  const index = names.findIndex((name, at) => names.indexOf(name) < at);
  if (index < 0) return;
  throw taskMistake(
    file,
    `steps[${index}].name`,
    `"${steps[index]!.name}" is the name of an earlier step: rename it`,
  );
}
