/**
 * The backward pass layer by layer (gradient checkpointing, arXiv 1604.06174). It keeps only the input of each layer
 * and computes the layer again for its gradient. All layers have the same shapes, so one program serves all of them.
 */
import { decoderLayer, embed, finalNorm, type LowRank, selfAttention } from '../model/decoder.ts';
import type { ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import { type Executable, gradientOf, type Runtime, type Tensor, type Tensors } from '../runtime/runtime.ts';
import { type BatchKind, batchInputs } from './token-outputs.ts';

const embeddings = 'model.embed_tokens.weight';

interface CheckpointedLoss {
  config: ModelConfig;
  kind: BatchKind;
  /** Computes the scalar `loss`, and other outputs, from the hidden states [N, width] after the last norm. */
  loss: <T>(ops: Ops<T>, hidden: T) => Record<string, T>;
  /** Whether the loss uses logits. If it does, embeddings that are tied to the head have a gradient there too. */
  usesLogits: boolean;
  lowRank?: <T>(ops: Ops<T>) => LowRank<T>;
  /** The names of the parameters to differentiate by. */
  to: readonly string[];
}

/** Compiles an executable with the same inputs and outputs as the whole backward program. */
export async function compileCheckpointed(
  runtime: Runtime,
  { config, kind, loss, usesLogits, lowRank, to }: CheckpointedLoss,
): Promise<Executable> {
  const ofFirstLayer = to.filter((name) => name.startsWith(prefixOf(0)));
  const shape = ['N', config.hidden_size] as const;
  const layer = <T>(ops: Ops<T>) => {
    const { positions, mask } = batchInputs(ops, kind);
    const attention = selfAttention(ops, config, mask, kind.blocks);
    const before = ops.input('hidden', 'float32', shape);
    return decoderLayer(ops, config, 0, before, positions, attention, lowRank?.(ops));
  };
  const product = <T>(ops: Ops<T>, x: T) => ops.sumAll(ops.mul(ops.input('slope', 'float32', shape), x));
  const isInHead = (name: string) =>
    name === embeddings ? config.tie_word_embeddings && usesLogits : !name.startsWith('model.layers.');
  const ofHead = to.filter(isInHead);

  // The gradient of tied embeddings is the sum of two: as the input embeddings and as the head.
  const embedding = <T>(ops: Ops<T>) => {
    const loss = product(ops, embed(ops, config, batchInputs(ops, kind).tokens));
    if (!ofHead.includes(embeddings)) return loss;
    const [table, asHead] = [embeddings, 'as head'].map((name) =>
      ops.input(name, 'float32', [config.vocab_size, config.hidden_size]),
    ) as [T, T];
    return ops.add(loss, ops.sumAll(ops.mul(asHead, table)));
  };
  const gradients = (...to: string[]) => ({ gradients: { of: 'loss', to }, stays });

  const [first, forward, backward, head, last] = await Promise.all([
    runtime.compile((ops) => ({ after: embed(ops, config, batchInputs(ops, kind).tokens) }), { stays }),
    runtime.compile((ops) => ({ after: layer(ops) }), { stays }),
    runtime.compile((ops) => ({ loss: product(ops, layer(ops)) }), gradients('hidden', ...ofFirstLayer)),
    runtime.compile(
      (ops) => loss(ops, finalNorm(ops, config, ops.input('hidden', 'float32', shape))),
      gradients('hidden', ...ofHead),
    ),
    // Adapters do not train the embeddings.
    to.includes(embeddings)
      ? runtime.compile((ops) => ({ loss: embedding(ops) }), gradients(embeddings))
      : undefined,
  ]);

  return {
    async run(inputs, into = {}) {
      const asFirstLayer = (index: number) => ({ ...inputs, ...ofLayer(inputs, index) });
      const entering: Tensor[] = [];
      let { after: hidden } = await first.run(inputs);
      for (let index = 0; index < config.num_hidden_layers; index++) {
        entering.push(hidden!);
        ({ after: hidden } = await forward.run({ ...asFirstLayer(index), hidden: hidden! }));
      }
      const { [gradientOf('hidden')]: ofHidden, ...results } = await head.run(
        { ...inputs, hidden: hidden! },
        into,
      );
      hidden!.dispose?.();
      let slope = ofHidden!;
      for (let index = config.num_hidden_layers - 1; index >= 0; index--) {
        const own = { hidden: entering.pop()!, slope };
        const found = await backward.run({ ...asFirstLayer(index), ...own }, ofLayer(into, index));
        disposeTensors(own);
        slope = found[gradientOf('hidden')]!;
        for (const name of ofFirstLayer)
          results[gradientOf(name.replace(prefixOf(0), prefixOf(index)))] = found[gradientOf(name)]!;
      }
      if (last) {
        const asHead = results[gradientOf(embeddings)];
        const found = await last.run({ ...inputs, slope, ...(asHead && { 'as head': asHead }) }, into);
        asHead?.dispose?.();
        results[gradientOf(embeddings)] = found[gradientOf(embeddings)]!;
      }
      slope.dispose?.();
      return results;
    },
    async close() {
      for (const program of [first, forward, backward, head, last]) await program?.close();
    },
  };
}

/** Hidden states and gradients are used on the device; what the caller reads leaves it. */
function stays(output: string): boolean {
  return output === 'after' || output.startsWith(gradientOf(''));
}

function prefixOf(layer: number): string {
  return `model.layers.${layer}.`;
}

/** The tensors of a layer, under the names that they have in the first layer. */
function ofLayer(tensors: Tensors, layer: number): Tensors {
  const own = Object.entries(tensors).filter(([name]) => name.includes(prefixOf(layer)));
  return Object.fromEntries(own.map(([name, value]) => [name.replace(prefixOf(layer), prefixOf(0)), value]));
}
