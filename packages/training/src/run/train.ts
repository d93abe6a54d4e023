/** train: improves a policy in an environment with a trainer, and keeps the folder of the run. */
import type { TrainEvent } from '@toolenv/core/plugins';
import type { RunOptions } from '../options/run-options.ts';
import { lockFolder } from '../run-folder/folder-lock.ts';
import { refuseRun } from '../run-folder/run-folder.ts';
import { keepRun } from './keep-run.ts';
import { prepareRun, type TrainOptions } from './prepare-run.ts';

/**
 * Trains, and yields what happens: `for await (const event of train({ env, policy, steps: 4 })) …`. Nothing runs until the
 * first event is requested. The options of the trainer and of the run loop are passed next to the others, and override those of a
 * configured trainer. TypeScript knows them from a trainer; with a reference, name their type: `train<PpoOptions>({ … })`.
 *
 * `out` gets config.json, metrics.jsonl, trajectories.jsonl, curves.svg, `checkpoints/`, and at the end the trained policy
 * in `policy/`. No other run can use it meanwhile.
 * @throws ToolEnvError `usage.run` without an environment or a policy, `usage.not_trainable` for a policy without a learner,
 *   `usage.report`, `usage.unknown_plugin`, `usage.unknown_option`, `usage.bad_option`, `usage.out_not_empty`, `usage.other_run`,
 *   `usage.folder_in_use`, `infrastructure.disk`, and what the trainer throws.
 */
export async function* train<Options extends object = RunOptions>(
  given: TrainOptions<Options> & NoInfer<Partial<Options>>,
): AsyncGenerator<TrainEvent, void, void> {
  const prepared = await prepareRun(given);
  const { run, trainer, options, identity, settings } = prepared;
  const lock = await lockFolder(run.out);
  try {
    await refuseRun(run.out, identity, { ...settings, trainer });
    yield* keepRun(prepared, trainer.train(run, options));
  } finally {
    await lock.release();
  }
}
