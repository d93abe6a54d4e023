/** The data files of docs/benchmarks, as the scripts that measured wrote them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result as Taught } from '../../studies/distillation/distillation.ts';
import type { EvolutionResult } from '../../studies/evolution/evolution.ts';
import type { Result } from '../../studies/leaderboard/results.ts';
import type { Result as LibraryResult } from '../../studies/library/results.ts';
import type { CostPoint } from '../bench/cost-charts.ts';

const folder = join(import.meta.dirname, '../../docs/benchmarks');

/** A run of the demo. Scores are exact match on the held-out questions. */
export interface DemoRun {
  seed: number;
  steps: number;
  heldOut: number;
  shuffleRewards: boolean;
  emBefore: number;
  emAfter: number;
  emBeforeSampled: number;
  emAfterSampled: number;
  /** Wall-clock of the whole command. */
  seconds: number;
}

/** A line of bench.jsonl about training or rollouts: tokens per second, and bytes. */
export interface SpeedRun {
  name: 'train' | 'rollout';
  size: string;
  ours: number;
  peer: number;
  ratio: number;
  peakMemory: { ours: number; peer: number };
  /** Milliseconds of one token in each turn of a conversation. */
  latency?: { step: number[] };
}

/** A line of libtorch.jsonl. The peer has the same precision. */
export interface LibtorchRun extends Omit<SpeedRun, 'name'> {
  name: SpeedRun['name'] | 'grpo';
  precision: 'float32' | 'bfloat16';
}

/** A line of gpu.jsonl. */
export interface GpuRun extends Omit<SpeedRun, 'name'> {
  name: SpeedRun['name'] | 'lora';
  device: string;
  /** Name and driver. */
  gpu: string;
}

/** The line of bench.jsonl about a step of a trivial environment, in microseconds. */
export interface EnvRun {
  name: 'env';
  ours: { call: number; text: number };
  peers: Record<string, { theirs: number; like: 'call' | 'text'; ratio: number }>;
  versions: Record<string, string>;
}

export interface TrlSide {
  seconds: number;
  cpuSeconds: number;
  steps: number;
  secondsPerStep: { mean: number; rollout: number; update: number };
  tokensPerSecond: { training: number };
  otherWork: number;
  heldOut: { greedy: number; sampled: number };
}

/** The line of bench.jsonl about SmolLM2: milliseconds of sampled tokens, tokens per second of training, and bytes. */
export interface SmolLm2Run {
  name: 'smollm2';
  results: {
    name: 'sample' | 'lora' | 'all' | 'long';
    /** Of samples. */
    conversations?: number;
    /** Of training. */
    rows?: number;
    length?: number;
    sides: Record<
      string,
      { firstToken?: number; token?: number; tokensPerSecond?: number; peakMemory: number }
    >;
  }[];
}

/** A comparison with TRL; the ratios are TRL over toolenv. */
export interface TrlRun {
  ratio: { seconds: number; cpuSeconds: number; secondsPerStep: number };
  ours: TrlSide;
  trl: TrlSide;
}

export interface BenchmarkFiles {
  demo: DemoRun[];
  bench: (SpeedRun | EnvRun | SmolLm2Run)[];
  gpu: GpuRun[];
  libtorch: LibtorchRun[];
  cost: CostPoint[];
  trl: TrlRun[];
  leaderboard: Result[];
  library: LibraryResult[];
  distillation: Taught[];
  /** With a student of half the layers. */
  distillationHalf: Taught[];
  /** With a student of a quarter of the parameters. */
  distillationQuarter: Taught[];
  evolution: EvolutionResult[];
  /** What the recipe from a hosted model to an own one printed, in Markdown. */
  road: string;
  /** The MCP servers that work, of those that were tried: `31 of 32`. */
  mcpServers: string;
}

export function readBenchmarkFiles(): BenchmarkFiles {
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const lines = (name: string) =>
    text(name)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const servers = /^(\d+ of \d+) servers work/m.exec(text('../mcp-servers.md'));
  if (!servers) throw new Error('docs/mcp-servers.md does not say how many servers work.');
  return {
    demo: lines('demo.jsonl'),
    bench: lines('bench.jsonl'),
    gpu: lines('gpu.jsonl'),
    libtorch: lines('libtorch.jsonl'),
    cost: lines('cost.jsonl'),
    trl: JSON.parse(text('trl.json')),
    leaderboard: lines('leaderboard.jsonl'),
    library: lines('library.jsonl'),
    distillation: lines('distillation.jsonl'),
    distillationHalf: lines('distillation-half.jsonl'),
    distillationQuarter: lines('distillation-quarter.jsonl'),
    evolution: lines('evolution.jsonl'),
    road: text('road.txt').trim(),
    mcpServers: servers[1]!,
  };
}
