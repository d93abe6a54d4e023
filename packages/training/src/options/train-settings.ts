/** The settings of a run, beside the trainer's options: `train` takes its defaults from here, and the command line its flags. */
import type { OptionsOf } from '@toolenv/core/schemas';

const schema = {
  type: 'object',
  properties: {
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of everything that is random' },
    resume: {
      type: 'boolean',
      default: false,
      description: 'go on from the newest checkpoint in the folder of the run',
    },
    change: {
      type: 'boolean',
      default: false,
      description: 'with resume: go on with other options, and record old and new in changes.jsonl',
    },
    trajectories: {
      type: 'boolean',
      default: true,
      description: 'whether to write every training episode to trajectories.jsonl',
    },
    tensorboard: {
      type: 'boolean',
      default: false,
      description: 'write the metrics for TensorBoard too, to tensorboard/ in the folder of the run',
    },
    rollouts: {
      type: 'string',
      minLength: 1,
      description:
        'shared folder whose workers play the training episodes (toolenv rollout); without it, this process plays them',
    },
    reportTo: {
      type: 'array',
      items: { enum: ['mlflow', 'wandb'] },
      minItems: 1,
      description:
        'trackers that get the metrics too, with a comma between: mlflow (set MLFLOW_TRACKING_URI), wandb (pip install wandb)',
    },
  },
} as const;

export type TrainSettings = OptionsOf<typeof schema>;

/** JSON Schema of the settings of a run, with defaults. */
export const trainSettings: typeof schema = schema;
