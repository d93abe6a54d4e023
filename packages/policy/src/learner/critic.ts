/** The critic of a learner: what it expects of the state before each action token, on the policy's trunk or its own. */
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { CriticOptions } from '@toolenv/core/learner';
import { readTensors, writeSafetensors } from '../checkpoint/safetensors.ts';
import { parameterShapes } from '../model/decoder.ts';
import type { Model } from '../model/model.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { copyTensors, readTensorData } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensors, zeros } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { momentShapes, type OptimizerState } from './optimizer-state.ts';
import { createParameterGroup, type ParameterGroup } from './parameter-group.ts';

/** The value head has the names of Hugging Face's token classification models. */
const headNames = { weight: 'score.weight', bias: 'score.bias' };
const file = 'critic.safetensors';

export interface Critic {
  readonly kind: CriticOptions['critic'];
  /** Of the critic's own parameters: those of the value head, and of the trunk if it has one of its own. */
  readonly group: ParameterGroup;
  weights: Tensors;
}

/** A critic whose values are all 0. One with a trunk of its own begins with the policy's. */
export async function createCritic(
  kind: Critic['kind'],
  runtime: Runtime,
  { config, weights }: Model,
): Promise<Critic> {
  const head = headShapes(config);
  const trunk = kind === 'separate' ? trunkShapes(config) : new Map<string, readonly number[]>();
  const ofPolicy = Object.fromEntries([...trunk.keys()].map((name) => [name, weights[name]!]));
  const ofHead = Object.fromEntries([...head].map(([name, shape]) => [name, zeros(shape)]));
  return {
    kind,
    group: createParameterGroup(runtime, new Map([...trunk, ...head])),
    weights: { ...(await copyTensors(runtime, ofPolicy)), ...ofHead },
  };
}

/** Values [M] of hidden states [M, width]. */
export function valueHead<T>(ops: Ops<T>, config: ModelConfig, hidden: T): T {
  const shapes = headShapes(config);
  const input = (name: string) => ops.input(name, 'float32', shapes.get(name)!);
  return ops.reshape(ops.linear(hidden, input(headNames.weight), input(headNames.bias)), ['M']);
}

/** Writes the critic's weights and optimizer state beside the policy's files, which stay as Hugging Face has them. */
export async function writeCritic(
  folder: string,
  runtime: Runtime,
  { kind, group, weights }: Critic,
): Promise<void> {
  const { step, moments } = await group.state();
  const tensors = { ...(await readTensorData(runtime, weights)), ...moments };
  await writeSafetensors(join(folder, file), tensors, { critic: kind, step: String(step) });
}

/** @throws ToolEnvError `usage.checkpoint_missing` or `usage.checkpoint_damaged`. */
export async function readCritic(
  folder: string,
  { kind, group }: Critic,
): Promise<{ weights: Tensors; state: OptimizerState }> {
  const ofMoments = momentShapes(group.shapes);
  const shapes = new Map([...group.shapes, ...ofMoments]);
  const { tensors, metadata } = await readTensors(join(folder, file), shapes);
  if (metadata.critic !== kind) {
    const message = `${join(folder, file)} is of a ${metadata.critic} critic, not a ${kind} one: ask for that one.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  }
  const pick = (names: Shapes) => Object.fromEntries([...names.keys()].map((name) => [name, tensors[name]!]));
  return {
    weights: pick(group.shapes),
    state: { step: Number(metadata.step), moments: pick(ofMoments) },
  };
}

function headShapes({ hidden_size: width }: ModelConfig): Shapes {
  return new Map<string, readonly number[]>([
    [headNames.weight, [1, width]],
    [headNames.bias, [1]],
  ]);
}

function trunkShapes(config: ModelConfig): Shapes {
  return new Map([...parameterShapes(config)].filter(([name]) => name !== 'lm_head.weight'));
}
