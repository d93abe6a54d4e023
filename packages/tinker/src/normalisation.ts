/** How a server normalises the losses of a step, found on a model that is thrown away. */
import { ToolEnvError } from '@toolenv/core';
import type { Datum } from './messages.ts';
import { type ModelShape, RemoteModel } from './remote-model.ts';
import type { Session } from './session.ts';

/**
 * `mean`: the mean over the rows of all requests since the last step, where a row is the mean over its weights: (1/B) Σᵢ Σₜ wℓ / Σₜ w
 * (SkyRL on JAX). `sum`: Σᵢ Σₜ wℓ (SkyRL on FSDP and Megatron).
 */
export type Normalisation = 'mean' | 'sum';

/** Of a norm that servers compute in bfloat16. */
const tolerance = 0.03;
/** Ids that every vocabulary has. */
const tokens = Int32Array.of(1, 2, 3, 4, 5);

/**
 * Compares two gradient norms: of one target alone, and of the same target twice, in two requests of rows that have one and
 * three weights. A sum gives twice the norm, the mean ²⁄₃ of it. Every other rule that servers might have gives something else:
 * the mean over all tokens ½, the mean over sequences 1, a mean per request ⁴⁄₃.
 * @throws ToolEnvError `usage.tinker_normalisation` if it is neither.
 */
export async function probeNormalisation(session: Session, shape: ModelShape): Promise<Normalisation> {
  const model = await RemoteModel.create(session, shape);
  try {
    const row = { tokens: tokens.subarray(0, -1), targets: tokens.subarray(1) };
    const [logprobs] = await model.logprobs([row]);
    const datum = (weights: number): Datum => {
      const bits = Float32Array.from(row.targets, (_, t) => Number(t < weights));
      const advantages = Float32Array.from(row.targets, (_, t) => Number(t === 0));
      return { ...row, inputs: { weights: bits, logprobs: logprobs!, advantages } };
    };
    await model.accumulate([datum(1)]);
    const alone = await model.step({ learningRate: 0 });
    await model.accumulate([datum(1)]);
    await model.accumulate([datum(3)]);
    const twice = (await model.step({ learningRate: 0 })) / alone;
    if (Math.abs(twice - 2 / 3) < tolerance) return 'mean';
    if (Math.abs(twice - 2) < tolerance) return 'sum';
    const message = `${session.connection.url} weighs rows by a rule that is not known here: a target twice has ${twice} times the gradient norm. Use skyrl 0.4.0.`;
    throw new ToolEnvError('usage.tinker_normalisation', message);
  } finally {
    await model.unload();
  }
}
