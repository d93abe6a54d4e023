/** withHarness: an environment that an agent plays in a loop of its own. The policy answers the agent, and the environment scores what the agent comes to. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, type EnvHandle, maxConcurrency, openEnv, type Rewards, ToolEnvError } from '@toolenv/core';
import { type Skill, withSkill } from '@toolenv/core/wrappers';
import { type AgentContext, type Confinement, defineAgentEnv } from '@toolenv/gateway';
import { type ScoreRecord, serveMcp } from '@toolenv/mcp';
import type { Harness } from './harness.ts';

/** Limits of an agent. */
export interface HarnessOptions {
  /** Most requests of the agent in an episode. Default 20. */
  maxTurns?: number;
  /** Milliseconds that the agent may take from an answer to its next request. Default 120,000. */
  toolTimeout?: number;
  /** Agents at once: each is a process or several. Default 4. */
  concurrent?: number;
  /**
   * Shows the agent's program its installation, its folders of the episode and what is named here, and of the network its model and the environment's
   * tools, as `confine` of `command` does. Without it, an agent with a shell may read whatever your user may, such as the answers of tasks.
   */
  confine?: boolean | Confinement;
  /** A skill, which an agent that reads skills finds in its own place, and another at the end of its instructions. */
  skill?: Skill;
}

/**
 * The environment, whose episodes a coding agent plays. The agent gets the first messages of an episode as its task, the environment's tools from an
 * MCP server, and the policy as its model. Its last message is its answer, unless it has called `answer`. Rewards are those of the environment, at
 * the end. `harness.package`, and a limit that was given, become a part of the identity of a run. Trainers of prompts find no open texts. Closing it closes the environment.
 * Throws `usage.agent_confine` if the agent cannot be confined. An episode throws what the agent throws, and `usage.agent_conversation` if the environment replies to answers, as a user does.
 */
export async function withHarness<Task>(
  given: EnvHandle<Task>,
  harness: Harness,
  { maxTurns, toolTimeout = 120_000, concurrent = 4, confine = false, skill }: HarnessOptions = {},
): Promise<EnvHandle<Task>> {
  if (confine !== false && !harness.confines) {
    const message = `${harness.package} cannot be confined: it runs in this process, or starts its program itself. Leave confine out, or run it in a container.`;
    throw new ToolEnvError('usage.agent_confine', message);
  }
  const skilled = skill && withSkill<Task, EnvHandle<Task>>(given, skill);
  const env = skilled && !harness.readsSkills ? skilled : given;
  const own = {
    skill: harness.readsSkills ? skill : undefined,
    confine: confine === true ? {} : confine || undefined,
  };
  const probe = env.episode();
  const { spec } = probe;
  await probe.close();
  const definition = defineAgentEnv<Task>()({
    name: spec.name,
    description: `${spec.name}, played by ${harness.package}.`,
    capabilities: { concurrent: Math.min(concurrent, maxConcurrency(env.capabilities)) },
    limits: { maxTurns: maxTurns ?? 20, toolTimeout },
    tasks: env.tasks,
    agent: (context) => play(env, harness, own, context),
    rewards: Object.fromEntries(
      Object.entries(spec.rewards).map(([name, { kind, range, ...rest }]) => [
        name,
        {
          ...rest,
          kind: 'outcome' as const,
          // Every turn may earn a process reward.
          range: kind === 'outcome' ? range : sumsOf(range, spec.limits.maxTurns),
          score: ({ result }: { result: Rewards | undefined }) => result?.[name] ?? null,
        },
      ]),
    ),
  });
  const played = (await openEnv(definition)) as EnvHandle<Task>;
  const { prompts: _, ...rest } = env;
  return {
    ...rest,
    ...played,
    tasks: env.tasks,
    ...(env.ref !== undefined && { ref: env.ref }),
    ...(env.packageVersion !== undefined && { packageVersion: env.packageVersion }),
    identity: {
      ...env.identity,
      ...(skilled && { skill: skilled.identity!.skill }),
      agent: maxTurns === undefined ? harness.package : `${harness.package}, ${maxTurns} requests`,
    },
    async close() {
      await played.close();
      await env.close();
    },
  };
}

function sumsOf([low, high]: readonly [number, number], turns: number): [number, number] {
  return [Math.min(low, turns * low), Math.max(high, turns * high)];
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** Plays an episode of the environment. The agent can reach no other episode. */
async function play<Task>(
  env: EnvHandle<Task>,
  harness: Harness,
  { confine, skill }: { confine: Confinement | undefined; skill: Skill | undefined },
  context: AgentContext<Task>,
): Promise<Rewards> {
  const { task, baseURL, apiKey, signal, rng } = context;
  const one = { length: 1, get: () => task };
  // The server asks a first Env for its name, and plays the last.
  let playing: Env<Task>;
  const episode = () => {
    playing = env.episode();
    return playing;
  };
  let failure: unknown;
  const controlToken = randomUUID();
  const folder = await mkdtemp(join(tmpdir(), `toolenv-${harness.name}-`));
  const service = await serveMcp(
    { ...env, tasks: { train: one, validation: one, test: one }, episode },
    {
      transport: { type: 'http', port: 0, controlToken },
      onError(error) {
        failure = error;
      },
    },
  );
  try {
    const post = async <Answer>(path: string, body: object): Promise<Answer> => {
      const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
      const url = new URL(`/episodes${path}`, service.url);
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
      const answer = (await response.json()) as Answer & { error?: string };
      if (response.ok) return answer;
      if (failure) throw failure;
      throw new ToolEnvError('infrastructure.agent', `The environment of the agent answers: ${answer.error}`);
    };
    const begun = await post<{ episode: string; url: string; messages: { content: string }[] }>('', {
      task: 0,
      seed: rng.int(2 ** 31),
    });
    const [cwd, home] = [join(folder, 'work'), join(folder, 'home')];
    await Promise.all([mkdir(cwd), mkdir(home)]);
    const hasTools = (playing!.tools?.() ?? []).length > 0;
    const said = await harness.run({
      ...{ cwd, home, baseURL, apiKey, signal, skill },
      ask: begun.messages.map(({ content }) => content).join('\n\n'),
      tools: hasTools ? begun.url : undefined,
      ...(confine && { confine: { ...confine, ports: [...(confine.ports ?? []), portOf(begun.url)] } }),
    });
    const { outcome, rewards = {} } = await post<ScoreRecord>(`/${begun.episode}`, { answer: said });
    if (outcome.kind === 'aborted')
      throw new ToolEnvError(outcome.code as ToolEnvError['code'], outcome.message, { cause: failure });
    if (outcome.kind === 'running') {
      const { name } = playing!.spec;
      const message = `${name} replies to an answer, as a user does, and the program of an agent ends with its answer: play it without --agent.`;
      throw new ToolEnvError('usage.agent_conversation', message);
    }
    return rewards;
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}
