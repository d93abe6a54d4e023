/** figuresOf: everything that a page may show of docs/benchmarks, by name, as Markdown. */
import { rules } from '@toolenv/testing';
import type { Result as Taught } from '../../studies/distillation/distillation.ts';
import type { EvolutionResult } from '../../studies/evolution/evolution.ts';
import { markdownTable } from '../../studies/shared/markdown-table.ts';
import { type CostPoint, labels } from '../bench/cost-charts.ts';
import type {
  BenchmarkFiles,
  DemoRun,
  EnvRun,
  GpuRun,
  LibtorchRun,
  SmolLm2Run,
  SpeedRun,
  TrlRun,
  TrlSide,
} from './benchmark-files.ts';
import { leaderboardFigures } from './leaderboard-figures.ts';
import { libraryTable } from './library-table.ts';
import { smolLm2Figures } from './smollm2-figures.ts';
import { studyCosts } from './study-costs.ts';

const sizes: Record<string, string> = {
  '1m': '1 million',
  '15m': '15 million',
  '100m': '100 million',
  '135m': '135 million',
  '500m': '500 million',
};
const peers: Record<string, [title: string, packageName: string]> = {
  gymnasium: ['Gymnasium', 'gymnasium'],
  openenv: ['OpenEnv', 'openenv-core'],
  verifiers: ['verifiers', 'verifiers'],
};

/** Tables stand between empty lines; other figures are parts of a sentence. */
export function figuresOf(files: BenchmarkFiles): Map<string, string> {
  const { demo, bench, gpu, trl, leaderboard, library, distillation } = files;
  const speed = bench.filter((run): run is SpeedRun => run.name === 'train' || run.name === 'rollout');
  const env = bench.find((run): run is EnvRun => run.name === 'env')!;
  const smolLm2 = bench.filter((run): run is SmolLm2Run => run.name === 'smollm2');
  const learned = demo.filter(({ shuffleRewards }) => !shuffleRewards);
  const shuffled = demo.filter(({ shuffleRewards }) => shuffleRewards);
  const training = speed.filter(({ name }) => name === 'train');
  const rollouts = speed.filter(({ name }) => name === 'rollout');
  return new Map([
    ['demo.table', table(demoTable(learned))],
    [
      'demo.before',
      span(
        percent,
        learned.map(({ emBefore }) => emBefore),
      ),
    ],
    [
      'demo.after',
      span(
        percent,
        learned.map(({ emAfter }) => emAfter),
      ),
    ],
    [
      'demo.time',
      span(
        clock,
        learned.map(({ seconds }) => seconds),
      ),
    ],
    ['demo.shuffled', shuffled.map(({ emAfter }) => emAfter.toFixed(3)).join(', ')],
    ['demo.shuffled.most', percent(Math.max(...shuffled.map(({ emAfter }) => emAfter)))],
    ['train.table', table(speedTable(training, 'PyTorch'))],
    [
      'train.ratio',
      span(
        two,
        training.map(({ ratio }) => ratio),
      ),
    ],
    ['rollout.table', table(speedTable(rollouts, 'transformers'))],
    [
      'rollout.ratio',
      span(
        one,
        rollouts.map(({ ratio }) => ratio),
      ),
    ],
    ['turns.table', table(turnTable(rollouts))],
    ['turns.growth', rollouts.map(turnGrowth).join(' and ')],
    ['gpu.table', table(gpuTable(gpu))],
    ['cost.table', table(costTable(files.cost))],
    ['libtorch.table', table(libtorchTable(files.libtorch))],
    ['env.table', table(envTable(env))],
    ...Object.entries(env.peers).map(([peer, { ratio }]): [string, string] => [
      `env.${peer}.ratio`,
      one(ratio),
    ]),
    ['trl.table', table(trlTable(trl))],
    [
      'trl.wall-clock',
      span(
        one,
        trl.map(({ ratio }) => ratio.seconds),
      ),
    ],
    [
      'trl.step',
      span(
        one,
        trl.map(({ ratio }) => ratio.secondsPerStep),
      ),
    ],
    ...smolLm2Figures(smolLm2),
    ...leaderboardFigures(leaderboard),
    ['library.table', table(libraryTable(library))],
    ['studies.costs', table(studyCosts(leaderboard, library))],
    ['distillation.table', table(distillationTable(distillation))],
    ['distillation.half', firstAtGoal(files.distillationHalf)],
    ['distillation.quarter', table(distillationTable(files.distillationQuarter))],
    ['evolution.table', table(evolutionTable(files.evolution))],
    ['road.table', table(files.road)],
    ['mcp.servers', files.mcpServers],
    ['spec.rules', String(Object.keys(rules).length)],
  ]);
}

const one = (value: number) => value.toFixed(1);
const two = (value: number) => value.toFixed(2);
const percent = (share: number) => `${Math.round(100 * share)} %`;
const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`;
const table = (markdown: string) => `\n\n${markdown}\n\n`;

/** The least and the greatest value: `1.6 to 2.8`. The unit of the least is left out. */
function span(text: (value: number) => string, values: readonly number[]): string {
  const [least, most] = [text(Math.min(...values)), text(Math.max(...values))];
  return least === most ? least : `${least.replace(' %', '')} to ${most}`;
}

function demoTable(runs: readonly DemoRun[]): string {
  const header = [
    'seed',
    'exact match before',
    'after 80 steps',
    'sampled before',
    'sampled after',
    'wall-clock',
  ];
  const lines = runs.map(({ seed, emBefore, emAfter, emBeforeSampled, emAfterSampled, seconds }) => [
    String(seed),
    ...[emBefore, emAfter, emBeforeSampled, emAfterSampled].map((em) => em.toFixed(3)),
    clock(seconds),
  ]);
  return markdownTable(header, lines);
}

function speedTable(runs: readonly SpeedRun[], peer: string): string {
  const header = [
    'parameters',
    'toolenv, tokens/s',
    `${peer}, tokens/s`,
    'ratio',
    'peak memory, toolenv',
    peer,
  ];
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
  return markdownTable(
    header,
    runs.map(({ size, ours, peer: theirs, ratio, peakMemory }) => [
      sizes[size]!,
      ours.toLocaleString('en'),
      theirs.toLocaleString('en'),
      two(ratio),
      gigabytes(peakMemory.ours),
      gigabytes(peakMemory.peer),
    ]),
  );
}

function libtorchTable(runs: readonly LibtorchRun[]): string {
  const work = { train: 'training', grpo: 'step of GRPO', rollout: 'rollouts' };
  return markdownTable(
    [
      '',
      'parameters',
      'precision',
      'toolenv, tokens/s',
      'peer, tokens/s',
      'ratio',
      'peak memory',
      'of the peer',
    ],
    runs.map(({ name, size, precision, ours, peer, ratio, peakMemory }) => [
      work[name],
      sizes[size]!,
      precision,
      ...[ours, peer].map((rate) => rate.toLocaleString('en')),
      two(ratio),
      ...[peakMemory.ours, peakMemory.peer].map((bytes) => `${(bytes / 1e9).toFixed(2)} GB`),
    ]),
  );
}

function costTable(points: readonly CostPoint[]): string {
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
  return markdownTable(
    ['step', 'toolenv', 'peer', 'ratio', 'peak memory', 'of the peer'],
    points.map(({ axis, value, seconds, peakMemory }) => [
      `${labels[axis]}: ${Number.parseFloat(`${value}`).toLocaleString('en')}`,
      ...[seconds.ours, seconds.peer!].map((each) => `${each.toPrecision(3)} s`),
      two(seconds.peer! / seconds.ours),
      ...[peakMemory.ours, peakMemory.peer!].map(gigabytes),
    ]),
  );
}

function gpuTable(runs: readonly GpuRun[]): string {
  const header = ['GPU', 'device', 'task', 'parameters', 'toolenv, tokens/s', 'PyTorch, tokens/s', 'ratio'];
  const tasks = { train: 'training', rollout: 'rollouts', lora: 'LoRA of rank 16' };
  return markdownTable(
    header,
    runs.map(({ gpu, device, name, size, ours, peer, ratio }) => [
      gpu.includes('H200') ? 'H200' : 'H100',
      device === 'cuda' ? 'CUDA' : 'WebGPU',
      tasks[name],
      sizes[size]!,
      ours.toLocaleString('en'),
      peer.toLocaleString('en'),
      two(ratio),
    ]),
  );
}

function turnTable(runs: readonly SpeedRun[]): string {
  const header = ['parameters', 'turn 1', '2', '3', '4', '5'];
  const lines = runs.map(({ size, latency }) => [
    sizes[size]!,
    ...latency!.step.map((milliseconds) => milliseconds.toPrecision(3)),
  ]);
  return markdownTable(header, lines);
}

/** How much longer a token of the last turn takes than a token of the first. */
function turnGrowth({ latency }: SpeedRun): string {
  const { step } = latency!;
  return percent(step.at(-1)! / step[0]! - 1);
}

function envTable({ ours, peers: measured, versions }: EnvRun): string {
  const header = ['', 'µs/step', 'toolenv, like for like', 'ratio'];
  const likes = { text: 'a text', call: 'a tool call' };
  const lines = Object.entries(measured).map(([name, { theirs, like, ratio }]) => {
    const [title, packageName] = peers[name]!;
    const shown = theirs < 100 ? two(theirs) : one(theirs);
    return [`${title} ${versions[packageName]}`, shown, `${two(ours[like])} (${likes[like]})`, one(ratio)];
  });
  return markdownTable(header, lines);
}

/** Episodes until the share of the teacher's EM. */
function distillationTable(runs: readonly Taught[]): string {
  const seeds = [...new Set(runs.map(({ seed }) => seed))];
  const cell = (seed: number, trainer: string) => {
    const run = runs.find((each) => each.seed === seed && each.trainer === trainer);
    if (!run) return 'not run';
    return `${run.reached ? '' : 'not within '}${run.episodes.toLocaleString('en')} (EM ${run.em.toFixed(2)})`;
  };
  const lines = seeds.map((seed) => [String(seed), cell(seed, 'distill'), cell(seed, 'grpo')]);
  return markdownTable(['seed', 'distillation', 'GRPO'], lines);
}

/** EM after minutes of training: mean and range of the seeds. */
function evolutionTable(runs: readonly EvolutionResult[]): string {
  const cell = (name: EvolutionResult['trainer'], minute: number) => {
    const scores = runs.filter(({ trainer }) => trainer === name).map(({ curve }) => curve[minute]![1]);
    const average = scores.reduce((sum, em) => sum + em, 0) / scores.length;
    return `${two(average)} (${two(Math.min(...scores))} to ${two(Math.max(...scores))})`;
  };
  const minutes = runs[0]!.curve.map(([minute]) => minute);
  const lines = minutes.map((minute) => [String(minute), cell('es', minute), cell('grpo', minute)]);
  return markdownTable(['minutes', 'evolution strategies', 'GRPO'], lines);
}

/** After how many episodes each run first has an EM of 0.8: `distillation after 1,024 episodes, GRPO after 3,072 episodes`. */
function firstAtGoal(runs: readonly Taught[]): string {
  const names: Record<string, string> = { distill: 'distillation', grpo: 'GRPO' };
  return runs
    .map(({ trainer, curve }) => {
      const [episodes] = curve.find(([, em]) => em >= 0.8) ?? [];
      return `${names[trainer]} ${episodes === undefined ? 'never' : `after ${episodes.toLocaleString('en')} episodes`}`;
    })
    .join(', ');
}

function trlTable(runs: readonly TrlRun[]): string {
  const row = (title: string, text: (run: TrlRun) => string) => [title, ...runs.map(text)];
  const sides = (title: string, text: (side: TrlSide) => string) =>
    row(title, ({ ours, trl }) => `${text(ours)} → ${text(trl)}`);
  return markdownTable(
    ['toolenv → TRL', ...runs.map((_, index) => `seed ${index + 1}`)],
    [
      row('**wall-clock to EM 0.8, TRL over toolenv**', ({ ratio }) => `**${two(ratio.seconds)}**`),
      row('processor time to EM 0.8, TRL over toolenv', ({ ratio }) => two(ratio.cpuSeconds)),
      row('wall-clock of a step, TRL over toolenv', ({ ratio }) => two(ratio.secondsPerStep)),
      sides('wall-clock to EM 0.8, s', ({ seconds }) => one(seconds)),
      sides('processor time to EM 0.8, s', ({ cpuSeconds }) => one(cpuSeconds)),
      sides('steps to EM 0.8', ({ steps }) => String(steps)),
      sides('wall-clock of a step, s', ({ secondsPerStep }) => two(secondsPerStep.mean)),
      sides('of it the rollout, s', ({ secondsPerStep }) => two(secondsPerStep.rollout)),
      sides('of it the update, s', ({ secondsPerStep }) => two(secondsPerStep.update)),
      sides('tokens written per second of training', ({ tokensPerSecond }) =>
        String(tokensPerSecond.training),
      ),
      sides('EM on 256 held-out questions after, greedy', ({ heldOut }) => heldOut.greedy.toFixed(3)),
      sides('the same, sampled', ({ heldOut }) => heldOut.sampled.toFixed(3)),
      sides('share of the machine that other work used', ({ otherWork }) => two(otherWork)),
    ],
  );
}
