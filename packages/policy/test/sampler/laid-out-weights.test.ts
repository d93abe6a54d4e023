/** A copy of the weights is made once for each set of weights, and freed. The numbers are compared by `npm run devices -- webgpu`. */
import { expect, test } from 'vitest';
import { parameterShapes } from '../../src/model/parameter-shapes.ts';
import { type Runtime, type Tensors, zeros } from '../../src/runtime/runtime.ts';
import { LaidOutWeights } from '../../src/sampler/laid-out-weights.ts';
import { tinyConfig } from '../tiny-model.ts';

/** A runtime whose programs return the matrices that they were given, under the names of their copies. */
function countingRuntime() {
  const counts = { compiled: 0, runs: 0, live: 0 };
  const copyOf = (inputs: Tensors): Tensors =>
    Object.fromEntries(
      Object.entries(inputs)
        .filter(([, { dims }]) => dims.length === 2)
        .map(([name, { data, dims }]) => {
          counts.live += 1;
          const dispose = () => {
            counts.live -= 1;
          };
          return [`laid out ${name}`, { data, dims, dispose }];
        }),
    );
  const compile: Runtime['compile'] = async () => {
    counts.compiled += 1;
    const run = async (inputs: Tensors) => {
      counts.runs += 1;
      return copyOf(inputs);
    };
    return { run, close: async () => {} };
  };
  return { counts, runtime: { name: 'counting', laysOut: true, compile } satisfies Runtime };
}

function weightsOf(config: typeof tinyConfig): Tensors {
  return Object.fromEntries([...parameterShapes(config)].map(([name, shape]) => [name, zeros(shape)]));
}

test('the matrices of linear maps are laid out, and the embeddings if the logits use them', () => {
  const { runtime } = countingRuntime();
  const names = (config: typeof tinyConfig) => {
    const laidOut = new LaidOutWeights(runtime, config);
    return [...parameterShapes(config).keys()].filter((name) => laidOut.has(name));
  };
  const tied = names({ ...tinyConfig, tie_word_embeddings: true });
  expect(tied).toContain('model.embed_tokens.weight');
  expect(tied).toContain('model.layers.0.mlp.down_proj.weight');
  expect(tied.filter((name) => /norm|bias/.test(name))).toEqual([]);
  const untied = names({ ...tinyConfig, tie_word_embeddings: false });
  expect(untied).toContain('lm_head.weight');
  expect(untied).not.toContain('model.embed_tokens.weight');
});

test('each set of weights has one copy, which is freed with the next', async () => {
  const config = { ...tinyConfig, tie_word_embeddings: true };
  const { runtime, counts } = countingRuntime();
  const laidOut = new LaidOutWeights(runtime, config);
  const weights = weightsOf(config);
  const first = await laidOut.of(weights);
  expect(await laidOut.of(weights)).toBe(first);
  expect(counts).toMatchObject({ compiled: 1, runs: 1 });
  const one = counts.live;
  expect(one).toBeGreaterThan(0);
  const next = weightsOf(config);
  expect((await laidOut.of(next))['model.layers.0.mlp.up_proj.weight']!.data).toBe(
    next['model.layers.0.mlp.up_proj.weight']!.data,
  );
  expect(counts).toEqual({ compiled: 1, runs: 2, live: one });
  laidOut.drop();
  expect(counts.live).toBe(0);
  await laidOut.of(next);
  expect(counts).toEqual({ compiled: 1, runs: 3, live: one });
  await laidOut.close();
  expect(counts.live).toBe(0);
});
