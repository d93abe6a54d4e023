/** The settings of a run besides the trainer's options: the defaults of `train` and the flags of the command line. */
import type { OptionsOf } from '@toolenv/core/schemas';

/** JSON Schema of the settings of a run, with defaults. */
export const trainSettings = {
  type: 'object',
  properties: {
    seed: { type: 'integer', minimum: 0, default: 1, description: 'random seed' },
    resume: {
      type: 'boolean',
      default: false,
      description: 'resume from the newest checkpoint in the run folder',
    },
    change: {
      type: 'boolean',
      default: false,
      description: 'with resume: allow other options, and record old and new values in changes.jsonl',
    },
    trajectories: {
      type: 'boolean',
      default: true,
      description: 'whether to write every training episode to trajectories.jsonl',
    },
    tensorboard: {
      type: 'boolean',
      default: false,
      description: 'also write the metrics for TensorBoard, to tensorboard/ in the run folder',
    },
    rollouts: {
      type: 'string',
      minLength: 1,
      description:
        'shared folder of workers that play the training episodes (toolenv rollout); default: this process plays them',
    },
    reportTo: {
      type: 'array',
      items: { enum: ['mlflow', 'wandb'] },
      minItems: 1,
      description:
        'trackers that also get the metrics, separated by commas: mlflow (set MLFLOW_TRACKING_URI), wandb (pip install wandb)',
    },
  },
} as const;

export type TrainSettings = OptionsOf<typeof trainSettings>;
