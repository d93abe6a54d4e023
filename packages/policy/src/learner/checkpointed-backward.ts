/**
 * The backward pass layer by layer (gradient checkpointing, arXiv 1604.06174). It keeps only the input of each layer
 * and computes the layer again for its gradient. All layers have the same shapes, so one program serves all layers of a kind.
 */
import { firstOfKind } from '../model/architecture.ts';
import { batchAttention } from '../model/batch-attention.ts';
import { decoderLayer, embed, finalNorm, type LowRank } from '../model/decoder.ts';
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
  const shape = ['N', config.hidden_size] as const;
  const layer = <T>(ops: Ops<T>, index: number) => {
    const { positions } = batchInputs(ops);
    const attention = batchAttention(ops, config, kind);
    const before = ops.input('hidden', 'float32', shape);
    return decoderLayer(ops, config, index, before, positions, attention, lowRank?.(ops));
  };
  const product = <T>(ops: Ops<T>, x: T) => ops.sumAll(ops.mul(ops.input('slope', 'float32', shape), x));
  const isInHead = (name: string) =>
    name === embeddings ? config.tie_word_embeddings && usesLogits : !name.startsWith('model.layers.');
  const ofHead = to.filter(isInHead);

  // The gradient of tied embeddings is the sum of two: as the input embeddings and as the head.
  const embedding = <T>(ops: Ops<T>) => {
    const loss = product(ops, embed(ops, config, batchInputs(ops).tokens));
    if (!ofHead.includes(embeddings)) return loss;
    const [table, asHead] = [embeddings, 'as head'].map((name) =>
      ops.input(name, 'float32', [config.vocab_size, config.hidden_size]),
    ) as [T, T];
    return ops.add(loss, ops.sumAll(ops.mul(asHead, table)));
  };
  const gradients = (...to: string[]) => ({ gradients: { of: 'loss', to }, stays });

  const firsts = firstOfKind(config);
  const compileLayer = async (index: number) => {
    const trained = to.filter((name) => name.startsWith(prefixOf(index)));
    const [forward, backward] = await Promise.all([
      runtime.compile((ops) => ({ after: layer(ops, index) }), { stays }),
      runtime.compile((ops) => ({ loss: product(ops, layer(ops, index)) }), gradients('hidden', ...trained)),
    ]);
    return [index, { forward, backward }] as const;
  };

  const [layers, first, head, last] = await Promise.all([
    Promise.all([...new Set(firsts)].map(compileLayer)),
    runtime.compile((ops) => ({ after: embed(ops, config, batchInputs(ops).tokens) }), { stays }),
    runtime.compile(
      (ops) => loss(ops, finalNorm(ops, config, ops.input('hidden', 'float32', shape))),
      gradients('hidden', ...ofHead),
    ),
    // Adapters do not train the embeddings.
    to.includes(embeddings)
      ? runtime.compile((ops) => ({ loss: embedding(ops) }), gradients(embeddings))
      : undefined,
  ]);

  const programs = new Map(layers);

  return {
    async run(inputs, into = {}) {
      const asFirst = (index: number) => ({ ...inputs, ...renamed(inputs, index, firsts[index]!) });
      const entering: Tensor[] = [];
      let { after: hidden } = await first.run(inputs);
      for (let index = 0; index < config.num_hidden_layers; index++) {
        entering.push(hidden!);
        const { forward } = programs.get(firsts[index]!)!;
        ({ after: hidden } = await forward.run({ ...asFirst(index), hidden: hidden! }));
      }
      const { [gradientOf('hidden')]: ofHidden, ...results } = await head.run(
        { ...inputs, hidden: hidden! },
        into,
      );
      hidden!.dispose?.();
      let slope = ofHidden!;
      for (let index = config.num_hidden_layers - 1; index >= 0; index--) {
        const own = { hidden: entering.pop()!, slope };
        const { backward } = programs.get(firsts[index]!)!;
        const { [gradientOf('hidden')]: next, ...found } = await backward.run(
          { ...asFirst(index), ...own },
          renamed(into, index, firsts[index]!),
        );
        disposeTensors(own);
        slope = next!;
        Object.assign(results, renamed(found, firsts[index]!, index));
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
      const ofLayers = layers.flatMap(([, { forward, backward }]) => [forward, backward]);
      for (const program of [first, ...ofLayers, head, last]) await program?.close();
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

/** The tensors of a layer, under the names of another layer. */
function renamed(tensors: Tensors, layer: number, as: number): Tensors {
  const own = Object.entries(tensors).filter(([name]) => name.includes(prefixOf(layer)));
  return Object.fromEntries(own.map(([name, value]) => [name.replace(prefixOf(layer), prefixOf(as)), value]));
}
