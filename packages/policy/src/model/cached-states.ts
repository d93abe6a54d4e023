/** The states of layers that keep one between runs, in the place of keys and values: of convolutions and of delta nets. */
import type { Dim, Ops } from '../runtime/ops.ts';
import type { Context } from './context.ts';
import { inverseOfUnit, levelInputs } from './delta-rule.ts';
import { architectureOf } from './known-architectures.ts';
import type { ModelConfig } from './model-config.ts';

/** New tokens of a row in one run at most. */
export const longestRun = 128;

/** The states of a layer, by the last part of their names: the shape of each conversation's. */
export function stateShapes(config: ModelConfig, layer: number): Record<string, readonly number[]> {
  const { convolution, deltaNet, layer: kindOf } = architectureOf(config);
  const { mixer } = kindOf(layer);
  if (mixer === 'convolution') return { inputs: [convolution!.taps - 1, config.hidden_size] };
  if (mixer !== 'deltaNet') return {};
  const { keyHeads, valueHeads, keyWidth, valueWidth, taps } = deltaNet!;
  return {
    inputs: [taps - 1, 2 * keyHeads * keyWidth + valueHeads * valueWidth],
    memory: [valueHeads, keyWidth, valueWidth],
  };
}

/**
 * The context of `time` new tokens of each row after its state, without a gradient.
 * - Inputs: `past.<layer>.inputs` [B, taps − 1, C], what a convolution has read last, and `past.<layer>.memory` [B, H, K, V] of a delta net.
 *   Unless `time` is 1, int32 tails [B, taps − 1], where those inputs are once the row's own tokens have been read, and for delta nets fresh [B, S]:
 *   1 for the row's own tokens, 0 for padding after them, int32 finals [B], the places of the rows' last own tokens in B·S, mask [S, S],
 *   and `levels` of S.
 * - Outputs: the same states after the row's tokens, `new.<layer>.inputs|memory`.
 */
export function cachedStates<T>(
  ops: Ops<T>,
  config: ModelConfig,
  time: 1 | 'S',
  outputs: Record<string, T>,
): Pick<Context<T>, 'convolve' | 'recall'> {
  const past = (layer: number, state: string) =>
    ops.input(`past.${layer}.${state}`, 'float32', ['B', ...stateShapes(config, layer)[state]!]);
  return {
    convolve(layer, x, taps) {
      const [count, width] = stateShapes(config, layer).inputs as [number, number];
      const fresh = ops.reshape(x, ['B', time, width]);
      const pieces = ops.split(past(layer, 'inputs'), 1, count);
      if (time === 1) outputs[`new.${layer}.inputs`] = ops.concat([...pieces.slice(1), fresh], 1);
      else {
        const tails = ops.input('tails', 'int32', ['B', count]);
        const all = ops.reshape(ops.concat([...pieces, fresh], 1), ['all', width]);
        outputs[`new.${layer}.inputs`] = ops.gatherRows(all, tails);
      }
      const before = (distance: number) => {
        if (time === 1) return pieces.at(-distance)!;
        const skipped = pieces.slice(-distance);
        const longer = ops.concat([...skipped, fresh], 1);
        return ops.split(longer, 1, [fresh, ...skipped])[0]!;
      };
      const weighted = taps.map((tap, distance) =>
        ops.mul(distance === 0 ? fresh : before(distance), ops.reshape(tap, [1, 1, width])),
      );
      return ops.reshape(
        weighted.reduce((sum, each) => ops.add(sum, each)),
        ['N', width],
      );
    },

    recall(layer, { queries, keys, values, rates, decays }) {
      const [batch, heads] = ops.shapeOf(queries) as [Dim, number];
      const memory = past(layer, 'memory');
      const own = (x: T) => {
        const byTime = ops.reshape(x, ['B', time, heads]);
        if (time === 1) return byTime;
        return ops.mul(byTime, ops.reshape(ops.input('fresh', 'float32', ['B', time]), ['B', time, 1]));
      };
      const perHead = (x: T) => ops.reshape(ops.transpose(x, [0, 2, 1]), [batch, heads, time, 1]);
      const weights = perHead(own(rates));
      const steps = own(decays);
      const mask = time === 1 ? undefined : ops.input('mask', 'float32', [time, time]);
      const summedSteps = mask === undefined ? steps : summed(steps, mask);
      const sums = perHead(summedSteps);
      const total = mask === undefined ? sums : lastOf(summedSteps);
      const decayed = (x: T) => ops.mul(x, ops.exp(sums));
      const missing = ops.mul(ops.sub(values, ops.matmul(decayed(keys), memory)), weights);
      const kept =
        mask === undefined
          ? undefined
          : ops.exp(ops.add(ops.sub(sums, ops.reshape(sums, [batch, heads, 1, time])), mask));
      const products = (x: T) => ops.mul(ops.matmul(x, keys, { transposeB: true }), kept!);
      const written = kept
        ? ops.matmul(
            inverseOfUnit(ops, ops.mul(products(keys), weights), levelInputs(ops, time, longestRun)),
            missing,
          )
        : missing;
      const lasting = kept ? ops.mul(keys, ops.exp(ops.sub(total, sums))) : keys;
      const after = ops.add(
        ops.mul(memory, ops.exp(total)),
        ops.matmul(lasting, written, { transposeA: true }),
      );
      outputs[`new.${layer}.memory`] = after;
      if (!kept) return ops.matmul(queries, after);
      return ops.add(ops.matmul(decayed(queries), memory), ops.matmul(products(queries), written));
    },
  };

  /**
   * The sums [B, H, 1, 1] at each row's own last token. A sum over all of S would be added up in another order where other rows are longer,
   * and so would have other bits.
   */
  function lastOf(sums: T): T {
    const heads = ops.shapeOf(sums)[2] as number;
    const rows = ops.gatherRows(ops.reshape(sums, ['N', heads]), ops.input('finals', 'int32', ['B']));
    return ops.reshape(rows, ['B', heads, 1, 1]);
  }

  /** The sums of x [B, S, H] up to each position, for a mask [S, S] of the later ones. */
  function summed(x: T, mask: T): T {
    const heads = ops.shapeOf(x)[2] as number;
    const first = ops.reshape(ops.transpose(x, [1, 0, 2]), [time, 'columns']);
    const sums = ops.matmul(ops.exp(mask), first);
    return ops.transpose(ops.reshape(sums, [time, 'B', heads]), [1, 0, 2]);
  }
}
