/**
 * The policy `transformer-v1`: a Hugging Face folder as a plugin. ONNX Runtime's library loads only when the policy is
 * opened or its devices are listed. So help works without the library, and a library that fails to load can be reported.
 */
import { existsSync } from 'node:fs';
import { ToolEnvError } from '@toolenv/core';
import {
  definePolicy,
  type OpeningRun,
  type PolicyDefinition,
  type PolicyHandle,
} from '@toolenv/core/plugins';
import { readKey } from '@toolenv/core/remote';
import type { OptionsOf } from '@toolenv/core/schemas';
import { loadDependent, loadLibtorch } from './dependent-packages.ts';
import type { LoraTarget } from './learner/lora.ts';
import type { Precision, Runtime } from './runtime/runtime.ts';
import type { LearnedModel, OpenedSampler } from './sampler/sample-request.ts';

const schema = {
  type: 'object',
  required: ['checkpoint'],
  additionalProperties: false,
  properties: {
    checkpoint: {
      type: 'string',
      minLength: 1,
      description: 'Hugging Face folder, or a model of the Hugging Face Hub',
    },
    runtime: {
      enum: ['onnx', 'tfjs', 'libtorch'],
      default: 'onnx',
      mayChange: true,
      description:
        "library that computes the model: ONNX Runtime, the installed TensorFlow.js package, or the kernels of this machine's PyTorch",
    },
    device: {
      enum: ['auto', 'cpu', 'webgpu', 'cuda', 'dml', 'coreml'],
      mayChange: true,
      description: 'device for ONNX Runtime; auto is a GPU if CUDA works, else the CPU (default: cpu)',
    },
    precision: {
      enum: ['float32', 'float16', 'bfloat16', 'auto'],
      mayChange: true,
      description:
        'precision of matrix products: float16 for ONNX Runtime, faster on GPUs that support it; bfloat16 for libtorch, faster on CPUs with AMX or AVX512-BF16; auto for libtorch measures, and takes bfloat16 if it is at least 1.5 times as fast (default: float32)',
    },
    rolloutPrecision: {
      enum: ['float32', 'int8'],
      mayChange: true,
      description:
        'precision of the weights that sample; int8 samples large models faster on the CPU, and trainers correct for its other probabilities (default: float32)',
    },
    sampler: {
      enum: ['own', 'vllm'],
      mayChange: true,
      description:
        'program that samples: this one, or a vLLM server, which is started and gets the new weights after each step (default: own)',
    },
    samplerUrl: {
      type: 'string',
      minLength: 1,
      mayChange: true,
      description:
        'vLLM server that runs already on this machine, such as http://127.0.0.1:8000 (default: one is started)',
    },
    samplerKey: {
      type: 'string',
      minLength: 1,
      mayChange: true,
      description: 'name of the environment variable that has the key of samplerUrl (default: no key)',
    },
    samplerArguments: {
      type: 'string',
      minLength: 1,
      mayChange: true,
      description:
        'arguments of `vllm serve` for a server that is started, such as "--dtype float32 --max-model-len 8192"',
    },
    samplerTimeout: {
      type: 'integer',
      minimum: 1,
      milliseconds: true,
      mayChange: true,
      description: 'time in which vLLM must start, and answer a request (default: 600)',
    },
    threads: {
      type: 'integer',
      minimum: 1,
      mayChange: true,
      description:
        'CPU threads per operation; give each of two runs on one machine half of the cores (default: one per core)',
    },
    templateArguments: {
      type: 'object',
      description: 'extra values for the chat template, such as {"enable_thinking": false} for Qwen3',
    },
    toolPrompt: {
      type: 'boolean',
      description:
        'describe tools in the system message, with calls as JSON in <tool_call> (default: where the chat template shows no tools)',
    },
    date: {
      type: 'string',
      description:
        'day that the chat template takes for today, such as 2026-07-01 (default: the day on which the run began)',
    },
    maxThoughtTokens: {
      type: 'integer',
      minimum: 1,
      description: 'tokens after which a turn ends that is still inside its thought (default: no limit)',
    },
    loraRank: {
      type: 'integer',
      minimum: 0,
      default: 0,
      trainingOnly: true,
      description: 'train LoRA adapters of this rank; 0 trains every weight',
    },
    loraAlpha: {
      type: 'number',
      exclusiveMinimum: 0,
      trainingOnly: true,
      description: 'scale of the adapters: they are multiplied by alpha / rank (default: twice the rank)',
    },
    loraTargets: {
      type: 'array',
      items: { type: 'string' },
      trainingOnly: true,
      description: 'projections with adapters, such as q_proj,v_proj (default: all)',
    },
    gradientCheckpointing: {
      type: 'boolean',
      default: false,
      trainingOnly: true,
      mayChange: true,
      description: 'recompute each layer for its gradient: less memory, a third more work',
    },
    tokenBudget: {
      type: 'integer',
      minimum: 1,
      trainingOnly: true,
      mayChange: true,
      description:
        'padded tokens per pass (default: as many as fit in 1.5 GiB or 5 times the weights, at most 4096)',
    },
  },
} as const;

export type TransformerOptions = OptionsOf<typeof schema>;

const transformer: PolicyDefinition<TransformerOptions> = definePolicy({
  name: 'transformer-v1',
  description:
    'A transformer from a Hugging Face folder or the Hub, on ONNX Runtime, TensorFlow.js or the kernels of PyTorch.',
  options: schema,
  begin,
  open,
  tokenTexts: async ({ checkpoint }) => (await import('./checkpoint/token-texts.ts')).tokenTexts(checkpoint),
  compute: async (signal) => (await import('./compute-report.ts')).computeReport(signal),
});

export default transformer;

/** @throws ToolEnvError `usage.bad_option`, and as {@link chosenPrecision} does. */
async function begin(
  options: TransformerOptions,
  recorded: Readonly<Record<string, unknown>> = {},
): Promise<Partial<TransformerOptions>> {
  const day = await dayOf(options);
  if (options.precision !== 'auto') return day;
  refuseContradictions(options);
  const known = recorded.precision === 'float32' || recorded.precision === 'bfloat16';
  const precision = known ? (recorded.precision as 'float32' | 'bfloat16') : await chosenPrecision(options);
  return { ...day, precision };
}

/** What `precision: 'auto'` takes on this machine. @throws ToolEnvError `usage.runtime_missing`, `usage.libtorch`. */
async function chosenPrecision({
  threads,
}: Pick<TransformerOptions, 'threads'>): Promise<'float32' | 'bfloat16'> {
  const { precision, why } = await (await loadLibtorch()).choosePrecision({ threads });
  process.emitWarning(`precision auto is ${precision}: ${why}.`, 'Precision');
  return precision;
}

/** The day of a run whose prompts name it. */
async function dayOf({ checkpoint, date }: TransformerOptions): Promise<Partial<TransformerOptions>> {
  const { openSmallFiles } = await import('./checkpoint/open-checkpoint.ts');
  const { today } = await import('./chat/present-time.ts');
  // The revision of a model of the Hub is not known yet.
  if (!existsSync(checkpoint)) return {};
  try {
    const { tokenizerConfig } = await openSmallFiles(checkpoint);
    const namesDay = JSON.stringify(tokenizerConfig.chat_template ?? '').includes('strftime_now');
    return namesDay ? { date: date ?? today() } : {};
  } catch {
    // Opening the policy says what is wrong.
    return {};
  }
}

/** @throws ToolEnvError `usage.bad_option` for options that contradict each other, and what `loadPolicy` throws. */
async function open(
  options: TransformerOptions,
  { seed, revision, signal }: OpeningRun,
): Promise<PolicyHandle> {
  refuseContradictions(options);
  const { checkpoint, rolloutPrecision, loraRank, loraAlpha, loraTargets, ...others } = options;
  const { gradientCheckpointing, tokenBudget, precision: asked, runtime, ...rest } = others;
  const { sampler, samplerUrl, samplerKey, samplerArguments, samplerTimeout, ...ofPolicy } = rest;
  const vllm = { url: samplerUrl, timeout: samplerTimeout, signal };
  // Commands that record no options do not call `begin`.
  const precision = asked === 'auto' ? await chosenPrecision(options) : asked;
  const { loadPolicy } = await import('./transformer-policy.ts');
  // LoraAdapter refuses unknown targets by name.
  const targets = loraTargets as LoraTarget[] | undefined;
  const lora = loraRank > 0 ? { rank: loraRank, alpha: loraAlpha, targets, seed } : undefined;
  const opened = await runtimeOf(runtime, { precision, threads: options.threads, signal });
  try {
    return await loadPolicy(checkpoint, {
      ...ofPolicy,
      revision,
      signal,
      ...(precision !== 'bfloat16' && { precision }),
      runtime: opened,
      closesRuntime: true,
      sampler: { precision: rolloutPrecision },
      ...(sampler === 'vllm' && {
        openSampler: await vllmSampler({
          ...vllm,
          apiKey:
            samplerKey === undefined ? undefined : readKey(samplerKey, 'usage.model_key', '--sampler-key'),
          args: samplerArguments?.trim().split(/\s+/),
        }),
      }),
      learner: { lora, gradientCheckpointing, tokenBudget },
    });
  } catch (error) {
    await opened?.close?.();
    throw error;
  }
}

/** `undefined` for ONNX Runtime, which `loadPolicy` opens. */
async function runtimeOf(
  runtime: TransformerOptions['runtime'],
  {
    precision,
    ...options
  }: Pick<TransformerOptions, 'threads'> &
    Pick<OpeningRun, 'signal'> & { precision: Precision | 'bfloat16' | undefined },
): Promise<Runtime | undefined> {
  if (runtime === 'tfjs') return (await import('./runtime/tfjs/tfjs-runtime.ts')).tfjsRuntime();
  if (runtime === 'onnx') return undefined;
  const { libtorchRuntime } = await loadLibtorch();
  return libtorchRuntime({ ...options, ...(precision !== 'float16' && { precision }) });
}

/** What @toolenv/openai opens. */
async function vllmSampler(
  options: Record<string, unknown>,
): Promise<(model: LearnedModel) => Promise<OpenedSampler>> {
  const { openVllmSampler } = await loadDependent<{
    openVllmSampler(model: LearnedModel, given: typeof options): Promise<OpenedSampler>;
  }>('@toolenv/openai/vllm');
  return (model) => openVllmSampler(model, options);
}

function refuseContradictions({ runtime, loraRank, ...rest }: TransformerOptions): void {
  if (runtime === 'libtorch' && rest.device !== undefined)
    throw badOption('device', 'runtime "libtorch" computes on the CPU; leave one of the two out');
  const others = runtime === 'libtorch' ? ['float16'] : ['bfloat16', 'auto'];
  if (rest.precision !== undefined && others.includes(rest.precision) && runtime !== 'tfjs') {
    const remedy = 'give float16 with runtime "onnx", and bfloat16 or auto with runtime "libtorch"';
    throw badOption('precision', remedy);
  }
  const foreign = (['device', 'precision', 'threads'] as const).find((name) => rest[name] !== undefined);
  if (runtime === 'tfjs' && foreign !== undefined) {
    throw badOption(
      foreign,
      'runtime "tfjs" has no such choice, because the installed package decides; leave one of the two out',
    );
  }
  refuseSampler(rest);
  const idle = rest.loraAlpha ? 'loraAlpha' : rest.loraTargets ? 'loraTargets' : undefined;
  if (loraRank === 0 && idle !== undefined) throw badOption(idle, 'give loraRank too, such as 16');
}

function refuseSampler({ sampler, ...rest }: Partial<TransformerOptions>): void {
  const { samplerUrl, samplerKey, samplerArguments, samplerTimeout } = rest;
  const ofVllm = Object.entries({ samplerUrl, samplerKey, samplerArguments, samplerTimeout });
  const given = ofVllm.find(([, value]) => value !== undefined)?.[0];
  if (sampler !== 'vllm' && given !== undefined) throw badOption(given, 'give sampler "vllm" too');
  if (samplerUrl !== undefined && samplerArguments !== undefined)
    throw badOption('samplerArguments', 'they are for a server that is started; leave samplerUrl out');
  if (samplerUrl === undefined && samplerKey !== undefined)
    throw badOption('samplerKey', 'it is for a server that runs already; give samplerUrl too');
  const own = rest.rolloutPrecision ? 'rolloutPrecision' : rest.maxThoughtTokens && 'maxThoughtTokens';
  if (sampler === 'vllm' && own) throw badOption(own, 'sampler "vllm" has no such choice; leave it out');
}

function badOption(name: string, remedy: string): ToolEnvError {
  return new ToolEnvError('usage.bad_option', `@toolenv/policy/transformer-v1: option "${name}": ${remedy}.`);
}
