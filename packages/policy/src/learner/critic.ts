/** The critic of a learner: it estimates the value of the state before each action token, on the policy's trunk or on its own. */
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { CriticOptions } from '@toolenv/core/learner';
import { readSafetensors, writeSafetensors } from '../checkpoint/safetensors.ts';
import type { Model } from '../model/model.ts';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import type { Ops } from '../runtime/ops.ts';
import { copyTensors, readTensorData } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensors, zeros } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { createParameterGroup } from './create-parameter-group.ts';
import { momentShapes, type OptimizerState, type ParameterGroup } from './parameter-group.ts';

/** The parameter names of the value head, as in Hugging Face's token classification models. */
const headNames = { weight: 'score.weight', bias: 'score.bias' };
const file = 'critic.safetensors';

export interface Critic {
  readonly kind: CriticOptions['critic'];
  /** The critic's own parameters: the value head and, for a separate critic, its trunk. */
  readonly group: ParameterGroup;
  weights: Tensors;
}

/** Creates a critic whose values are all 0. A separate critic starts with a copy of the policy's trunk. */
export async function createCritic(
  kind: Critic['kind'],
  runtime: Runtime,
  { config, weights }: Model,
): Promise<Critic> {
  const head = headShapes(config);
  const ofDecoder = [...parameterShapes(config)].filter(([name]) => name !== 'lm_head.weight');
  const trunk = new Map(kind === 'separate' ? ofDecoder : []);
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

/** Writes the critic's weights and optimizer state into its own file: the policy's files stay a Hugging Face checkpoint. */
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
  const { tensors, metadata } = await readSafetensors(join(folder, file), shapes);
  if (metadata.critic !== kind) {
    const message = `${join(folder, file)} has a ${metadata.critic} critic, not a ${kind} critic: choose ${metadata.critic}.`;
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
