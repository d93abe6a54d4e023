/** Trainers that break one rule each. All are changes of one valid trainer. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvHandle, terminated } from '@toolenv/core';
import type { Run, TrainEvent, Trainer } from '@toolenv/core/plugins';
import { defineTrainer } from '@toolenv/training';
import type { RuleId } from '../../src/index.ts';

/** REINFORCE with the mean of the rollout as baseline. `slope` is the gradient for an advantage of 1. */
function reinforce(slope: (update: number) => number): Trainer {
  return defineTrainer({
    name: 'reinforce',
    description: 'REINFORCE',
    options: {
      type: 'object',
      properties: { learningRate: { type: 'number', minimum: 0, default: 1e-3 } },
    },
    defaults: { groupSize: 1 },
    create: ({ options: { learningRate }, optimize, report }) => {
      let updates = 0;
      return {
        async update({ rows, trajectories }) {
          const baseline = trajectories.reduce((sum, { reward }) => sum + reward! / trajectories.length, 0);
          const scale = slope(updates) / rows.length;
          updates += 1;
          const advantages = rows.map(({ mask, trajectory }) =>
            Float32Array.from(mask, (bit) => bit * (trajectory.reward! - baseline)),
          );
          report('advantages', rows, advantages);
          const dLogprobs = advantages.map((row) => row.map((advantage) => scale * advantage));
          const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate });
          return { grad_norm: gradNorm };
        },
      };
    },
  }) as unknown as Trainer;
}

export const goodTrainer: Trainer = reinforce(() => -1);

type Options = Record<string, unknown>;

function training(train: (run: Run, options: Options) => AsyncIterable<TrainEvent>): Trainer {
  return { ...goodTrainer, train };
}

/** Changes each event; leaves those out for which `change` gives `undefined`. */
function reporting(change: (event: TrainEvent, options: Options) => object | undefined): Trainer {
  return training(async function* (run, options) {
    for await (const event of goodTrainer.train(run, options)) {
      const changed = change(event, options);
      if (changed) yield changed as TrainEvent;
    }
  });
}

/** Takes another value in place of a valid number that is given as an option. */
function overriding(option: string, change: (given: number) => number, more: Options = {}): Trainer {
  return training((run, options) => {
    const given = options[option];
    const changed = typeof given === 'number' && { [option]: change(given), ...more };
    return goodTrainer.train(run, { ...options, ...changed });
  });
}

/** An environment whose broken machines end the episode with a reward of 0. */
function scoringFaults(env: EnvHandle<unknown>): EnvHandle<unknown> {
  return {
    ...env,
    episode() {
      const episode = env.episode();
      return {
        spec: episode.spec,
        reset: (options) => episode.reset(options),
        close: () => episode.close(),
        async step(action, options) {
          const transition = await episode.step(action, options);
          if (transition.outcome.kind !== 'aborted') return transition;
          return { ...transition, outcome: terminated('broken'), rewards: { win: 0 } };
        },
      };
    },
  };
}

const properties = goodTrainer.options.properties as Options;
let runs = 0;

export const brokenTrainers: readonly [what: string, rule: RuleId, trainer: Trainer][] = [
  [
    'a default that its schema refuses',
    'TRN-1',
    {
      ...goodTrainer,
      options: {
        ...goodTrainer.options,
        properties: { ...properties, size: { type: 'integer', default: 'large' } },
      },
    },
  ],
  [
    'no option for the number of steps',
    'TRN-1',
    { ...goodTrainer, options: { type: 'object', properties: {} } },
  ],
  [
    'unknown options that are ignored',
    'TRN-1',
    training((run, options) => {
      const known = Object.entries(options).filter(([name]) => Object.hasOwn(properties, name));
      return goodTrainer.train(run, Object.fromEntries(known));
    }),
  ],
  [
    'wrong options that are ignored',
    'TRN-1',
    training((run, { temperature, ...options }) =>
      goodTrainer.train(run, typeof temperature === 'object' ? options : { temperature: 1, ...options }),
    ),
  ],
  ['steps that count from 0', 'TRN-2', reporting((event) => ({ ...event, step: event.step - 1 }))],
  [
    'no checkpoint of the last step',
    'TRN-2',
    reporting((event) => (event.type === 'checkpoint' && event.step === 6 ? undefined : event)),
  ],
  ['no update', 'TRN-2', reporting((event) => (event.type === 'update' ? undefined : event))],
  [
    'a checkpoint that was not written',
    'TRN-2',
    reporting((event) => (event.type === 'checkpoint' ? { ...event, folder: '/nowhere' } : event)),
  ],
  [
    'an error in a run',
    'TRN-2',
    reporting((event) => {
      if (event.type === 'update') throw new TypeError('x is not a function');
      return event;
    }),
  ],
  [
    'a run that hangs',
    'TRN-2',
    training(async function* (run, options) {
      for await (const event of goodTrainer.train(run, options)) {
        yield event;
        await new Promise(() => {});
      }
    }),
  ],
  [
    'the mean of nothing as a metric',
    'TRN-3',
    reporting((event) =>
      event.type === 'update' ? { ...event, metrics: { ...event.metrics, loss: Number.NaN } } : event,
    ),
  ],
  [
    'an advantage that is not a number',
    'TRN-3',
    reporting((event) => {
      if (event.type === 'update') event.tokens![0]!.turns[0]!.advantages = [Number.NaN];
      return event;
    }),
  ],
  [
    'advantages of an episode that was not played',
    'TRN-3',
    reporting((event) => {
      if (event.type === 'update') event.tokens![0]!.episodeId = 'nobody';
      return event;
    }),
  ],
  [
    'rewards that are changed in place',
    'TRN-4',
    reporting((event) => {
      if (event.type === 'rollout') for (const episode of event.trajectories) episode.reward = 5;
      return event;
    }),
  ],
  ['no evaluations', 'TRN-5', overriding('evaluateEvery', () => 0)],
  ['evaluations of other steps', 'TRN-5', overriding('evaluateEvery', (every) => every + 1)],
  ['a schedule that begins again in a resumed run', 'TRN-6', reinforce((update) => -1 - 1 / (1 + update))],
  [
    'a resumed run that begins again',
    'TRN-6',
    training((run, options) => goodTrainer.train({ ...run, resume: false }, options)),
  ],
  [
    'a signal that is ignored',
    'TRN-7',
    training((run, options) => goodTrainer.train({ ...run, signal: undefined }, options)),
  ],
  [
    'finished steps that an interrupt loses',
    'TRN-7',
    training(async function* (run, options) {
      try {
        yield* goodTrainer.train(run, options);
      } catch (error) {
        await rm(join(run.out, 'checkpoints', 'step-3'), { recursive: true, force: true });
        throw error;
      }
    }),
  ],
  [
    'another error than the reason of the signal',
    'TRN-7',
    training(async function* (run, options) {
      try {
        yield* goodTrainer.train(run, options);
      } catch (error) {
        throw run.signal?.aborted ? new Error('stopped') : error;
      }
    }),
  ],
  [
    'aborted episodes that count as lost',
    'TRN-8',
    training((run, options) => goodTrainer.train({ ...run, env: scoringFaults(run.env!) }, options)),
  ],
  [
    'a mean over no scored episodes',
    'TRN-8',
    reporting((event) => {
      if (event.type !== 'rollout') return event;
      const scored = event.trajectories.flatMap(({ reward }) => (reward === null ? [] : [reward]));
      const mean = scored.reduce((sum, reward) => sum + reward, 0) / scored.length;
      return { ...event, metrics: { ...event.metrics, reward: mean } };
    }),
  ],
  [
    'an ignored seed',
    'TRN-9',
    training((run, options) => {
      runs += 1;
      return goodTrainer.train({ ...run, seed: runs }, options);
    }),
  ],
  ['a gradient with the wrong sign', 'TRN-10', reinforce(() => 1)],
  ['no gradient', 'TRN-10', reinforce(() => 0)],
  ['rewards of other episodes', 'TRN-10', overriding('steps', (steps) => steps, { shuffleRewards: true })],
];
