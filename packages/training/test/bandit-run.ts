/** Runs of GRPO on a bandit, to compare a run that stops and goes on with a run that does not. */
import type { TrainEvent } from '@toolenv/core/plugins';
import { BanditModel, openBandit } from '../../testing/src/trainer/bandit-model.ts';
import { grpo } from '../../trainer-grpo/src/grpo.ts';
import type { GrpoOptions } from '../../trainer-grpo/src/grpo-options.ts';
import { type RunOptions, type TrainOptions, train } from '../src/index.ts';

type Given = Partial<GrpoOptions & RunOptions> & Partial<TrainOptions<GrpoOptions & RunOptions>>;

export interface BanditRun {
  events: TrainEvent[];
  /** Type and step of each event: `update 1`. */
  kinds: string[];
  model: BanditModel;
}

/** @param options.killAfter The run ends at once after this event, as `update 3`, and saves nothing more. */
export async function banditRun(
  out: string,
  {
    killAfter,
    onEvent,
    model = new BanditModel(),
    ...given
  }: Given & { killAfter?: string; model?: BanditModel; onEvent?(kind: string): Promise<void> },
): Promise<BanditRun> {
  const env = await openBandit({ best: 1 });
  const small = { tasksPerStep: 2, groupSize: 4, maxTokens: 8, learningRate: 0.5 };
  const events: TrainEvent[] = [];
  const kinds: string[] = [];
  for await (const event of train({ env, policy: model, trainer: grpo, out, ...small, ...given })) {
    events.push(event);
    kinds.push(`${event.type} ${event.step}`);
    await onEvent?.(kinds.at(-1)!);
    if (kinds.at(-1) === killAfter) break;
  }
  return { events, kinds, model };
}

/** A metric of the events of a type, by their step. */
export function metricOf(
  { events }: BanditRun,
  type: 'rollout' | 'update' | 'evaluation',
  name: string,
): [step: number, value: number | undefined][] {
  return events.flatMap((event) =>
    event.type === type ? [[event.step, event.metrics[name]] as [number, number | undefined]] : [],
  );
}
