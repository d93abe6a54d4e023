/** Checks an environment's declarations: options, rewards, limits, capabilities, tasks. */
import type {
  EnvCapabilities,
  EnvHandle,
  EnvLimits,
  EnvSpec,
  JsonSchema,
  RewardSpec,
  TaskSet,
} from '@toolenv/core';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { notJson } from '../json-value.ts';
import { checkOptionsSchema } from '../options-schema.ts';
import type { Reporter } from '../report.ts';
import { brief, Violation } from '../violation.ts';
import type { AnyEnvDefinition, EnvSubject } from './env-subject.ts';
import { splits, spread } from './some-tasks.ts';

export async function checkDefinition(definition: AnyEnvDefinition, report: Reporter): Promise<void> {
  await report.check(['ENV-2'], () => checkOptionsSchema('ENV-2', definition.options));
  await report.check(['ENV-4'], () => checkRewardSpec(definition.rewards));
  await report.check(['ENV-5'], () => checkLimits(definition.limits));
  await report.check(['ENV-36'], () => checkCapabilities(definition.capabilities));
}

/** Compares the spec of an Env with the definition. */
export async function checkSpec({ definition, open, report }: EnvSubject): Promise<void> {
  await report.check(['ENV-1'], () => {
    const { specVersion, name, rewards, limits } = open.episode().spec ?? ({} as EnvSpec);
    if (specVersion !== 'v1') throw new Violation('ENV-1', 'specVersion "v1"', brief(specVersion));
    if (typeof name !== 'string' || name === '')
      throw new Violation('ENV-1', 'a name in the spec', brief(name));
    if (JSON.stringify(rewards) !== JSON.stringify(definition.rewards)) {
      throw new Violation('ENV-1', `rewards as defined: ${brief(definition.rewards)}`, brief(rewards));
    }
    checkLimits(limits);
  });
}

function checkRewardSpec(rewards: RewardSpec): void {
  const wrong = validate(wireSchemas['reward-spec'], rewards)[0];
  if (wrong) throw new Violation('ENV-4', `rewards${wrong.path} ${wrong.expected}`, wrong.received);
  for (const [name, { range, weight }] of Object.entries(rewards)) {
    const [low, high] = range;
    if (low <= high && [low, high, weight].every(Number.isFinite)) continue;
    const expected = `a finite range and weight of "${name}", low ≤ high`;
    throw new Violation('ENV-4', expected, brief(`[${range}], weight ${weight}`));
  }
}

function checkLimits(limits: EnvLimits): void {
  const wrong = validate(wireSchemas.limits, limits)[0];
  if (wrong) throw new Violation('ENV-5', `limits${wrong.path} ${wrong.expected}`, wrong.received);
}

const capabilities: JsonSchema = {
  type: 'object',
  properties: {
    seedable: { type: 'boolean' },
    concurrent: { anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1 }] },
    networked: { type: 'boolean' },
    remote: { type: 'boolean' },
  },
};

function checkCapabilities(declared: EnvCapabilities = {}): void {
  const wrong = validate(capabilities, declared)[0];
  if (wrong) throw new Violation('ENV-36', `capabilities${wrong.path} ${wrong.expected}`, wrong.received);
}

/** Tasks are JSON values that depend only on the seed. `again` is the environment opened again with the same seed. */
export async function checkTasks(open: EnvHandle<unknown>, again: EnvHandle<unknown>): Promise<void> {
  for (const split of splits) {
    const [set, other] = [open.tasks?.[split], again.tasks?.[split]];
    const [length, reopened] = [await set?.length, await other?.length];
    if (length === undefined || !Number.isInteger(length) || length < 0) {
      throw new Violation('ENV-3', `a length of tasks.${split}`, brief(length));
    }
    if (length !== reopened) {
      throw new Violation('ENV-3', `${length} tasks in ${split} for the same seed`, `${reopened}`);
    }
    for (const index of spread(length, 20))
      await checkTask(`tasks.${split}.at(${index})`, set!, other!, index);
  }
}

async function checkTask(
  where: string,
  set: TaskSet<unknown>,
  other: TaskSet<unknown>,
  index: number,
): Promise<void> {
  const task = await set.get(index);
  const unheld = task === undefined ? 'undefined' : notJson(task);
  if (unheld) throw new Violation('ENV-3', `a JSON value from ${where}`, unheld);
  const [first, second, reopened] = [task, await set.get(index), await other.get(index)].map((value) =>
    JSON.stringify(value),
  );
  if (first !== second)
    throw new Violation('ENV-3', `the same task from ${where} again: ${brief(task)}`, second!);
  if (first === reopened) return;
  const expected = `the same task from ${where} for the same seed: ${brief(task)}`;
  throw new Violation('ENV-3', expected, brief(reopened));
}
