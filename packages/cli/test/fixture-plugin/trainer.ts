/** A trainer that plays four episodes a step and nudges the weight; it pauses, so that a test can interrupt it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { collect, createRng, rollout } from '@toolenv/core';
import type { Run, TrainEvent, Trainer } from '@toolenv/core/plugins';
import { resumeCheckpoint, saveCheckpoint } from '@toolenv/training/runs';

interface Options {
  steps: number;
  pause: number;
  waitAtStep: number;
  checkpointEvery: number;
  stubborn: string;
}

const nudge: Trainer<Options> = {
  name: 'nudge',
  description: 'Nudges',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      steps: { type: 'integer', minimum: 1, default: 4, mayChange: true, description: 'updates' },
      pause: {
        type: 'integer',
        minimum: 0,
        default: 0,
        mayChange: true,
        description: 'milliseconds of each step',
      },
      waitAtStep: {
        type: 'integer',
        minimum: 0,
        default: 0,
        mayChange: true,
        description: 'the step that waits for a signal after its rollout',
      },
      checkpointEvery: { type: 'integer', minimum: 1, default: 2, mayChange: true, description: 'steps' },
      stubborn: {
        type: 'string',
        default: 'false',
        mayChange: true,
        description: 'true does not stop when asked to',
      },
      clip: {
        type: 'array',
        items: { type: 'number' },
        minItems: 2,
        maxItems: 2,
        default: [0.2, 0.3],
        description: 'two ends',
      },
      average: { enum: ['token', 'sequence'], default: 'token', description: 'manner' },
    },
  },
  async *train(run: Run, given: Partial<Options>): AsyncGenerator<TrainEvent, void, void> {
    const options = given as Options;
    const { steps } = options;
    const { policy, learner, out, seed, signal } = run;
    const env = run.env!;
    const resumed = run.resume ? await resumeCheckpoint(out, learner) : undefined;
    let step = resumed?.step ?? 0;
    try {
      while (step < steps) {
        const started = performance.now();
        const draw = createRng(seed, 'tasks', step);
        const task = await env.tasks.train.get(draw.int(await env.tasks.train.length));
        const episodes = [0, 1, 2, 3].map((sample) => ({ task, group: 0, sample }));
        const sampling = { maxTokens: 8, temperature: 1 };
        const trajectories = await collect(
          rollout({ env, policy, episodes, concurrency: 4, sampling, seed: seed + step, signal }),
        );
        const mean = (of: (index: number) => number) =>
          trajectories.reduce((sum, _, i) => sum + of(i), 0) / 4;
        const metrics = {
          reward: mean((i) => trajectories[i]!.reward!),
          'rewards/em/mean': mean((i) => trajectories[i]!.rewards.em!),
          'time/rollout': performance.now() - started,
        };
        yield { type: 'rollout', step: step + 1, metrics, trajectories };
        if (options.stubborn === 'true') await sleep(60_000);
        const pause = step + 1 === options.waitAtStep ? 3_600_000 : options.pause;
        await sleep(pause, undefined, { signal });
        const { gradNorm } = await learner.step({ learningRate: 1 });
        step += 1;
        yield { type: 'update', step, metrics: { grad_norm: gradNorm } };
        if (step === steps || step % options.checkpointEvery === 0) {
          yield { type: 'checkpoint', step, folder: await saveCheckpoint(out, learner, { step, seed }) };
        }
      }
    } catch (error) {
      if (!signal?.aborted || step === 0) throw error;
      yield { type: 'checkpoint', step, folder: await saveCheckpoint(out, learner, { step, seed }) };
      throw signal.reason;
    }
  },
};
export default nudge;
