/**
 * `npm run bench -- env`: steps of an echo environment in this process. A tool call is validated and dispatched with a
 * deadline; a plain text is not. Both are appended to the conversation. Each peer does the same with its library, in Python. Then
 * steps of the library's environments.
 */
import { type Action, defineTool, defineToolEnv, type Env, openEnv, type Tool, text } from '@toolenv/core';
import { measureLibrary } from './library.ts';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { type Peer, startPeer } from './peer.ts';
import { findPython, pythonCommand } from './python.ts';

const rounds = 5;
/** Steps of one round; 100,000 in all rounds. */
const steps = 20_000;
/** Turns of an episode, which the turn limit ends. */
const turns = 10;

const echo: Tool = defineTool({
  name: 'echo',
  description: 'Repeats the text.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  execute: async (said) => text(said.text),
});

/** Answers every turn until the turn limit. */
const echoes = defineToolEnv({
  name: 'echo-v1',
  description: 'Repeats what is said.',
  rewards: { heard: { kind: 'outcome' } },
  limits: { maxTurns: turns, maxCallsPerTurn: 1, toolTimeout: 10_000, maxToolCharacters: 100 },
  tasks: { train: ['Say'] },
  episode: ({ task }) => ({ messages: task, tools: [echo], onAnswer: (said) => said }),
});

const actions: Record<'call' | 'text', Action> = {
  call: {
    text: '',
    toolCalls: [{ id: 'c', name: 'echo', arguments: { text: 'hello' } }],
    stopReason: 'tool_call',
  },
  text: { text: 'hello', toolCalls: [], stopReason: 'stop' },
};

async function play(env: Env<string>, action: Action): Promise<void> {
  let over = true;
  for (let step = 0; step < steps; step++) {
    if (over) await env.reset({ task: 'Say', seed: step });
    const { outcome } = await env.step(action);
    over = outcome.kind !== 'running';
  }
}

interface EnvPeer {
  /** Python module that must be installed. */
  module: string;
  peerScript: string;
  /** The action of this library that does the same work. */
  like: keyof typeof actions;
  /** Steps of one round. */
  steps: number;
}

const peers: Record<string, EnvPeer> = {
  gymnasium: { module: 'gymnasium', peerScript: 'env_gymnasium.py', like: 'text', steps },
  openenv: { module: 'openenv.core.env_server', peerScript: 'env_openenv.py', like: 'text', steps },
  // Newer versions have no environment that steps in process: their rollouts are programs behind an HTTP proxy.
  verifiers: {
    module: 'verifiers.envs.tool_env',
    peerScript: 'env_verifiers.py',
    like: 'call',
    steps: steps / 10,
  },
};

/** Microseconds per step, resets included, of this library and of the installed peers, measured in turns. */
export async function measureEnv(): Promise<Record<string, unknown>> {
  const started = await startPeers();
  const env = (await openEnv(echoes)).episode();
  const played = Object.entries(actions);
  for (const [, action] of played) await play(env, action);
  const busy = await busyShare();
  const times: Record<string, number[]> = {};
  const note = (name: string, microseconds: number) => {
    times[name] = [...(times[name] ?? []), Number(microseconds.toFixed(2))];
  };
  for (let round = 0; round < rounds; round++) {
    for (const [name, action] of played) {
      const start = performance.now();
      await play(env, action);
      note(name, ((performance.now() - start) * 1e3) / steps);
    }
    for (const [name, peer] of started) note(name, ((await peer.round()).seconds * 1e6) / peers[name]!.steps);
  }
  const library = await measureLibrary();
  const versions = Object.assign({}, ...[...started.values()].map((peer) => peer.versions));
  for (const peer of started.values()) await peer.close();
  warnIfBusy(busy);
  const beside = [...started.keys()].map((name) => {
    const { like } = peers[name]!;
    const [theirs, ours] = [median(times[name]!), median(times[like]!)];
    return [name, { theirs, like, ratio: Number((theirs / ours).toFixed(2)) }];
  });
  return {
    name: 'env',
    ours: { call: median(times.call!), text: median(times.text!) },
    peers: Object.fromEntries(beside),
    library,
    notInstalled: Object.keys(peers).filter((name) => !started.has(name)),
    unit: 'µs/step',
    shape: { steps: rounds * steps, turns },
    otherWork: Number(busy.toFixed(2)),
    rounds: times,
    versions: { node: process.version, ...versions },
  };
}

async function startPeers(): Promise<Map<string, Peer>> {
  const started = new Map<string, Peer>();
  for (const [name, { module, peerScript, steps }] of Object.entries(peers)) {
    const python = findPython([module]);
    if (python)
      started.set(
        name,
        await startPeer(python, { peerScript, shape: { steps, turns } }, { threads: 1, device: 'cpu' }),
      );
    else console.error(`${pythonCommand()} has no ${module}: ${name} is not measured.`);
  }
  return started;
}
