/** The environment `verifiers-v1`: an environment of verifiers 0.4, `verifiers:<taskset>` for short. */
import { type EnvDefinition, messageOf, ToolEnvError } from '@toolenv/core';
import { knownPythons, pythonPackages } from '@toolenv/core/plugins';
import { isObject } from '@toolenv/core/schemas';
import { defineAgentEnv } from '@toolenv/gateway';
import { Player } from './player.ts';
import type { Played } from './player-process.ts';
import { taskConfigs, taskSources, type VerifiersTask } from './tasks.ts';

const json = (description: string) => ({ type: 'string', pattern: '^\\s*\\{', description }) as const;

const options = {
  required: ['address'],
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      description: 'taskset, as `eval <taskset>` of verifiers names it; verifiers:<taskset> sets it',
    },
    config: json('config of the environment as JSON, such as {"taskset": {"split": "train"}}'),
    testConfig: json(
      'config of test tasks as JSON, merged into config (default: each fifth task is a test task)',
    ),
    tasks: { type: 'integer', minimum: 1, default: 1_000, description: 'most tasks to load of each config' },
    startTimeout: {
      type: 'integer',
      minimum: 1,
      default: 300_000,
      milliseconds: true,
      description: 'time for verifiers to load the environment and its data',
    },
  },
} as const;

type Options = Record<string, unknown> & {
  address: string;
  config?: string;
  testConfig?: string;
  tasks: number;
  startTimeout: number;
  maxTurns: number;
};

/** Larger than any reward. */
const range = [-1e9, 1e9] as const;
/** Each episode starts a program or two. */
const concurrent = 8;

function declared(player: Player | undefined) {
  return defineAgentEnv<VerifiersTask>()({
    name: 'verifiers-v1',
    description:
      'An environment of verifiers. Its own agent plays with the policy as its model, and its own rewards score it.',
    options,
    limits: { maxTurns: 32, toolTimeout: 120_000 },
    capabilities: { remote: true, concurrent },
    setup: () => player!,
    teardown: (player) => player.close(),
    tasks: ({ options: { tasks, testConfig }, shared }) =>
      taskSources(shared, tasks, testConfig !== undefined),
    async agent({ task: { set, data }, shared, baseURL, apiKey, signal, info }): Promise<Played> {
      const process = await shared.process();
      const played = await process.play({ set, task: data, url: baseURL, key: apiKey }, signal);
      info({ verifiers: { ...played.scores, ...(played.stop !== null && { stop: played.stop }) } });
      if (played.isScored) return played;
      const why = played.error ?? `stopped by ${played.stop ?? 'nothing that it names'}`;
      throw new ToolEnvError('infrastructure.verifiers', `verifiers did not score the episode: ${why}`);
    },
    rewards: {
      reward: {
        kind: 'outcome',
        range,
        score: ({ result }) => (result as Played | undefined)?.reward ?? null,
      },
    },
  });
}

const { withRewards: _, ...base } = declared(undefined);

const definition: EnvDefinition<VerifiersTask> = {
  ...(base as unknown as EnvDefinition<VerifiersTask>),
  async open(given) {
    const { address, config, testConfig, maxTurns, startTimeout } = given.options as Options;
    const own = merged({ taskset: { id: address } }, parsed('config', config));
    const test = testConfig === undefined ? undefined : merged(own, parsed('testConfig', testConfig));
    const player = await Player.open({
      python: findPython(),
      configs: taskConfigs(own, test),
      maxTurns,
      startTimeout,
    });
    try {
      const { roles, runsCodeHere } = player.loaded;
      if (roles.length !== 1) throw new ToolEnvError('usage.verifiers', rolesText(address, roles));
      if (runsCodeHere) process.emitWarning(codeText(address), 'ModelCode');
      const inner = declared(player);
      return await (inner as unknown as EnvDefinition<VerifiersTask>).open(given);
    } catch (error) {
      await player.close();
      throw error;
    }
  },
};

export default definition;

/** @throws ToolEnvError `usage.verifiers` if no Python has verifiers. */
function findPython(): string {
  const [found] = pythonPackages('verifiers');
  if (found) return found.python;
  const looked = knownPythons().map(({ python }) => python);
  throw new ToolEnvError(
    'usage.verifiers',
    `No Python has verifiers (looked in ${looked.join(', ')}): run \`pip install "verifiers>=0.4"\` and install the taskset, or set TOOLENV_PYTHON.`,
  );
}

function rolesText(address: string, roles: readonly string[]): string {
  return roles.length === 0
    ? `Every role of ${address} has a client of its own: leave one to the policy.`
    : `The policy would play ${roles.length} roles of ${address} (${roles.join(', ')}): give all but one a client and a model in the option config, such as {"${roles[1]}": {"model": "…", "client": {"base_url": "…"}}}.`;
}

function codeText(address: string): string {
  return `The agent of ${address} runs what its model writes on this machine, and can read what you can: name another runtime in the option config, such as {"agent": {"runtime": {"type": "docker"}}}.`;
}

function parsed(option: string, text = '{}'): object {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
    throw new SyntaxError('no object');
  } catch (error) {
    throw new ToolEnvError(
      'usage.verifiers',
      `The option ${option} is not a JSON object (${messageOf(error)}).`,
    );
  }
}

/** Objects are merged, and other values replaced. */
function merged(base: object, other: object): object {
  const result: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(other)) {
    const before = result[name];
    result[name] = isObject(before) && isObject(value) ? merged(before, value) : value;
  }
  return result;
}
