/** What pages show of the line of bench.jsonl about SmolLM2: tables of sampling and of training. */
import { markdownTable } from '../../studies/shared/markdown-table.ts';
import type { SmolLm2Run } from './benchmark-files.ts';

const titles: Record<string, string> = {
  ours: 'toolenv, float32',
  oursInt8: 'toolenv, int8',
  transformersFloat32: 'transformers, float32',
  transformersBfloat16: 'transformers, bfloat16',
  llamaFloat16: 'llama.cpp, float16',
  llama4Bits: 'llama.cpp, 4 bits',
};

export function smolLm2Figures({ results }: SmolLm2Run): [name: string, text: string][] {
  const [one, eight] = results.filter(({ name }) => name === 'sample');
  const [lora, all] = ['lora', 'all'].map((name) => results.find((result) => result.name === name));
  const sampling = markdownTable(
    [
      '',
      'first token, ms',
      'further token, ms',
      'of 8 conversations: first tokens, ms',
      'a token of each, ms',
      'peak memory',
    ],
    Object.entries(one!.sides).map(([name, single]) => {
      const many = eight!.sides[name]!;
      const times = [single.firstToken, single.token, many.firstToken, many.token];
      return [titles[name]!, ...times.map((time) => milliseconds(time!)), gigabytes(many.peakMemory)];
    }),
  );
  const training = markdownTable(
    ['', 'adapters, tokens/s', 'peak memory', 'all weights, tokens/s', 'peak memory'],
    Object.entries(lora!.sides).map(([name, adapters]) => {
      const weights = all!.sides[name]!;
      return [
        titles[name]!,
        ...[adapters, weights].flatMap((side) => [String(side.tokensPerSecond), gigabytes(side.peakMemory)]),
      ];
    }),
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
