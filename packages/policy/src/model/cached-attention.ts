/** The sampling program: new tokens attend to a cache and to themselves; a distribution comes out for each row's last token. */

import type { Ops } from '../runtime/ops.ts';
import { type Attention, decoder, groupQueries, logits } from './decoder.ts';
import { headWidth, type ModelConfig } from './model-config.ts';

/**
 * For S new tokens of each row, S a number or unknown; one token needs neither mask nor last. Inputs: tokens and positions
 * [B, S], mask [S, S], last [B] (index into B·S), pastMask [B, 1, 1, P] and
 * `past.<layer>.key|value` [B, key-value heads, P, head width], inverseTemperature [B, 1]. Outputs:
 * probabilities [B, vocabulary], their sums [B, blocks] over blocks of equal size if there are several, and
 * `new.<layer>.key|value` [B, key-value heads, S, head width].
 */
export function samplingProgram<T>(
  ops: Ops<T>,
  config: ModelConfig,
  time: 1 | 'S',
  blocks = 1,
): Record<string, T> {
  const tokens = ops.input('tokens', 'int32', ['B', time]);
  const positions = ops.input('positions', 'int32', ['B', time]);
  const outputs: Record<string, T> = {};
  const hidden = decoder(ops, config, tokens, positions, cachedAttention(ops, config, time, outputs));
  const lastHidden =
    time === 1
      ? ops.reshape(hidden, ['B', config.hidden_size])
      : ops.gatherRows(hidden, ops.input('last', 'int32', ['B']));
  const cooled = ops.mul(lastHidden, ops.input('inverseTemperature', 'float32', ['B', 1]));
  outputs.probabilities = ops.softmax(logits(ops, config, cooled));
  if (blocks > 1) {
    const cut = ops.reshape(outputs.probabilities, ['B', blocks, config.vocab_size / blocks]);
    outputs.sums = ops.reshape(ops.sum(cut, [-1]), ['B', blocks]);
  }
  return outputs;
}

function cachedAttention<T>(
  ops: Ops<T>,
  config: ModelConfig,
  time: 1 | 'S',
  outputs: Record<string, T>,
): Attention<T> {
  const heads = config.num_key_value_heads;
  const size = headWidth(config);
  const scale = 1 / Math.sqrt(size);
  const pastMask = ops.input('pastMask', 'float32', ['B', 1, 1, 'P']);
  const groupSize = config.num_attention_heads / heads;
  return (layer, queries, keys, values) => {
    const past = (part: string) => ops.input(`past.${layer}.${part}`, 'float32', ['B', heads, 'P', size]);
    outputs[`new.${layer}.key`] = keys;
    outputs[`new.${layer}.value`] = values;
    const grouped = groupQueries(ops, config, queries);
    const pastScores = ops.add(ops.matmul(grouped, past('key'), { transposeB: true, scale }), pastMask);
    const newScores = time === 1 ? scoreOfOne(grouped, keys) : scores(grouped, keys);
    // Scores are joined rather than caches: they are the smaller by a factor of the head width.
    const probabilities = ops.softmax(ops.concat([pastScores, newScores], -1));
    const [toPast, toNew] = ops.split(probabilities, -1, [pastScores, newScores]) as [T, T];
    const fromNew = time === 1 ? ops.mul(toNew, values) : ops.matmul(toNew, values);
    const mixed = ops.add(ops.matmul(toPast, past('value')), fromNew);
    return ops.reshape(mixed, ops.shapeOf(queries));
  };

  /** A matrix product with one column is slower than its elementwise form. */
  function scoreOfOne(grouped: T, keys: T): T {
    return ops.mul(ops.sum(ops.mul(grouped, keys), [-1]), ops.scalar(scale));
  }

  function scores(grouped: T, keys: T): T {
    const mask = ops.input('mask', 'float32', [time, time]);
    const masks = ops.concat(Array(groupSize).fill(mask), 0);
    return ops.add(ops.matmul(grouped, keys, { transposeB: true, scale }), masks);
  }
}
