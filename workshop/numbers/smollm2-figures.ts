/** What pages show of the lines of bench.jsonl about SmolLM2: tables of sampling and of training. */
import { markdownTable } from '../../studies/shared/markdown-table.ts';
import type { SmolLm2Run } from './benchmark-files.ts';

const titles: Record<string, string> = {
  ours: 'toolenv, float32',
  oursInt8: 'toolenv, int8',
  oursLibtorch: 'toolenv on libtorch, float32',
  oursLibtorchBfloat16: 'toolenv on libtorch, bfloat16',
  transformersFloat32: 'transformers, float32',
  transformersAutocast: 'transformers, autocast',
  transformersBfloat16: 'transformers, bfloat16',
  llamaFloat16: 'llama.cpp, float16',
  llama4Bits: 'llama.cpp, 4 bits',
};

type Result = SmolLm2Run['results'][number];
type Sides = Result['sides'];
type Shape = Partial<Pick<Result, 'conversations' | 'rows' | 'length'>>;

/** @param runs The newest last. A task counts as its last run measured it. */
export function smolLm2Figures(runs: readonly SmolLm2Run[]): [name: string, text: string][] {
  const results = runs.flatMap(({ results }) => results);
  const last = (name: Result['name'], shape: Shape = {}) =>
    results.findLast(
      (one) =>
        one.name === name && Object.entries(shape).every(([key, value]) => one[key as keyof Shape] === value),
    )?.sides ?? {};
  const sampled = [1, 8, 16].map(
    (conversations) => [conversations, last('sample', { conversations })] as const,
  );
  const samplers = Object.keys(titles).filter((name) => sampled.some(([, sides]) => sides[name]));
  const sampling = markdownTable(
    [
      'ms to the first token of each + for a further token of each',
      ...sampled.map(([count]) => (count === 1 ? 'one conversation' : `${count} conversations`)),
      'most memory',
    ],
    samplers.map((name) => {
      const own = sampled.map(([, { [name]: side }]) => side);
      const times = own.map((side) =>
        side ? `${milliseconds(side.firstToken!)} + ${milliseconds(side.token!)}` : '',
      );
      return [titles[name]!, ...times, gigabytes(Math.max(...own.map((side) => side?.peakMemory ?? 0)))];
    }),
  );
  const trained: [title: string, sides: Sides][] = [
    ['adapters', last('lora')],
    ['all weights, 4 × 256', last('all')],
    ['16 × 192', last('long', { rows: 16 })],
    ['1 × 2,048', last('long', { rows: 1 })],
  ];
  const names = Object.keys(titles).filter((name) => trained.some(([, sides]) => sides[name]));
  const training = markdownTable(
    ['tokens/s (peak memory)', ...trained.map(([title]) => title)],
    names.map((name) => [
      titles[name]!,
      ...trained.map(([, { [name]: side }]) =>
        side ? `${side.tokensPerSecond} (${gigabytes(side.peakMemory)})` : '',
      ),
    ]),
  );
  return [
    ['smollm2.sampling', `\n\n${sampling}\n\n`],
    ['smollm2.training', `\n\n${training}\n\n`],
  ];
}

function milliseconds(time: number): string {
  return time < 100 ? time.toFixed(1) : Math.round(time).toLocaleString('en');
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
