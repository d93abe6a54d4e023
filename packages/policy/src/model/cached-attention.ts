/** The sampling program: new tokens attend to the cache and to each other, and each row's last token gets a distribution. */
import type { Dim, Ops } from '../runtime/ops.ts';
import { cachedStates } from './cached-states.ts';
import type { Context } from './context.ts';
import { decoder, logits } from './decoder.ts';
import { architectureOf } from './known-architectures.ts';
import { headWidth, type ModelConfig } from './model-config.ts';

/**
 * The program for `time` new tokens of each row: 1, or any number S.
 * - Inputs: tokens and positions [B, S], inverseTemperature [R, 1], pastMask [B, 1, 1, P], `past.<layer>.key|value` [B, key-value
 *   heads, P, head width], and embeddings [vocabulary, width], an input of their own even if the logits use the same matrix. Unless
 *   `time` is 1, mask [S, S] and last [R]: the indices into B·S of the R tokens after which a token is drawn. If `time` is 1, R is B.
 *   If layers have windows, `window.pastMask` [B, 1, S, P] and `window.mask` [S, S].
 * - Outputs: probabilities [R, vocabulary], `new.<layer>.key|value` [B, key-value heads, S, head width] and, with
 *   several `blocks`, sums [R, blocks]: the total probability of each block of the vocabulary.
 * - Where the runtime has {@link Ops.cachedAttention}, the masks give way to its lengths [B] and room [1], and the new keys and values
 *   to those of the past with them: `grown.<layer>.key|value`.
 * - The inputs and outputs of layers that keep a state are those of {@link cachedStates}.
 * - Where the runtime has {@link Ops.pooledAttention}, the past of all rows is a pool, and the masks give way to its other inputs.
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
  const embeddings = ops.input('embeddings', 'float32', [config.vocab_size, config.hidden_size]);
  const context = {
    attend: cachedAttention(ops, config, time, outputs),
    ...cachedStates(ops, config, time, outputs),
  };
  const hidden = decoder(ops, config, tokens, positions, context, { embeddings });
  const lastHidden =
    time === 1
      ? ops.reshape(hidden, ['R', config.hidden_size])
      : ops.gatherRows(hidden, ops.input('last', 'int32', ['R']));
  const cooled = ops.mul(lastHidden, ops.input('inverseTemperature', 'float32', ['R', 1]));
  outputs.probabilities = ops.softmax(logits(ops, config, cooled));
  if (blocks > 1) {
    const cut = ops.reshape(outputs.probabilities, ['R', blocks, config.vocab_size / blocks]);
    outputs.sums = ops.reshape(ops.sum(cut, [-1]), ['R', blocks]);
  }
  return outputs;
}

function cachedAttention<T>(
  ops: Ops<T>,
  config: ModelConfig,
  time: 1 | 'S',
  outputs: Record<string, T>,
): Context<T>['attend'] {
  const heads = config.num_key_value_heads;
  const size = headWidth(config);
  const scale = 1 / Math.sqrt(size);
  const groupSize = config.num_attention_heads / heads;
  const { layer: kindOf, window } = architectureOf(config);
  return (layer, queries, keys, values) => {
    const { windowed } = kindOf(layer);
    const past = (part: string, rows: string) =>
      ops.input(`past.${layer}.${part}`, 'float32', [rows, heads, 'P', size]);
    if (ops.pooledAttention) {
      const [pooledKeys, pooledValues] = [past('key', 'rows'), past('value', 'rows')];
      const [rows, lengths] = [ops.input('rows', 'int32', ['B']), ops.input('lengths', 'int32', ['B'])];
      const [room, copies] = [ops.input('room', 'int32', [2]), ops.input('copies', 'int32', ['F', 4])];
      const [shared, leaders] = [ops.input('shared', 'int32', [1]), ops.input('leaders', 'int32', ['B'])];
      const pool = { pooledKeys, pooledValues, rows, lengths, room, copies, shared, leaders };
      const given = { queries, keys, values, ...pool, window: windowed ? window : undefined };
      const [mixed, grownKeys, grownValues] = ops.pooledAttention(given, scale);
      outputs[`grown.${layer}.key`] = grownKeys;
      outputs[`grown.${layer}.value`] = grownValues;
      return mixed;
    }
    const cached = (part: string) => past(part, 'B');
    if (ops.cachedAttention) {
      const [pastKeys, pastValues] = [cached('key'), cached('value')];
      const lengths = ops.input('lengths', 'int32', ['B']);
      const room = ops.input('room', 'int32', [1]);
      const past = { pastKeys, pastValues, lengths, room, window: windowed ? window : undefined };
      const found = ops.cachedAttention({ queries, keys, values, ...past }, scale);
      if (found) {
        [, outputs[`grown.${layer}.key`], outputs[`grown.${layer}.value`]] = found;
        return found[0];
      }
    }
    outputs[`new.${layer}.key`] = keys;
    outputs[`new.${layer}.value`] = values;
    const grouped = groupQueries(ops, config, queries);
    const pastProducts = ops.matmul(grouped, cached('key'), { transposeB: true, scale });
    const pastScores = ops.add(
      pastProducts,
      windowed ? windowOfPast() : ops.input('pastMask', 'float32', ['B', 1, 1, 'P']),
    );
    const newScores =
      time === 1 ? scoreOfOne(grouped, keys) : scores(grouped, keys, windowed ? 'window.mask' : 'mask');
    // Concatenate the scores and not the caches, because scores are smaller by a factor of the head width.
    const probabilities = ops.softmax(ops.concat([pastScores, newScores], -1));
    const [toPast, toNew] = ops.split(probabilities, -1, [pastScores, newScores]) as [T, T];
    const fromNew = time === 1 ? ops.mul(toNew, values) : ops.matmul(toNew, values);
    const mixed = ops.add(ops.matmul(toPast, cached('value')), fromNew);
    return ops.reshape(mixed, ops.shapeOf(queries));
  };

  /** The scores of one new key. A matrix product with one column is slower than this elementwise form. */
  function scoreOfOne(grouped: T, keys: T): T {
    return ops.mul(ops.sum(ops.mul(grouped, keys), [-1]), ops.scalar(scale));
  }

  function scores(grouped: T, keys: T, maskName: string): T {
    const mask = ops.input(maskName, 'float32', [time, time]);
    return ops.add(ops.matmul(grouped, keys, { transposeB: true, scale }), ofGroup(mask, 0));
  }

  function windowOfPast(): T {
    return ofGroup(ops.input('window.pastMask', 'float32', ['B', 1, time, 'P']), 2);
  }

  /** The mask for each of the query heads that share keys. */
  function ofGroup(mask: T, axis: number): T {
    return time === 1 ? mask : ops.concat(Array(groupSize).fill(mask), axis);
  }
}

/** [B, heads, T, D] → [B, key-value heads, heads per key-value head · T, D], so that keys and values need not be repeated. */
function groupQueries<T>(ops: Ops<T>, config: ModelConfig, queries: T): T {
  const [batch, heads, time, size] = ops.shapeOf(queries) as [Dim, number, Dim, number];
  const groupSize = heads / config.num_key_value_heads;
  // A name of the time becomes the name that Ops.concat gives to `groupSize` concatenated masks of `time` rows.
  const merged = typeof time === 'number' ? groupSize * time : Array(groupSize).fill(time).join('+');
  return ops.reshape(queries, [batch, config.num_key_value_heads, merged, size]);
}
