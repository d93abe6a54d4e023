/** The options of GEPA. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const gepaOptions = {
  reflection: {
    type: 'string',
    minLength: 1,
    description:
      'policy that reads episodes and writes better texts: openai:<url>#<model>, a reference or a folder (default: the policy itself)',
  },
  episodes: {
    type: 'integer',
    minimum: 1,
    default: 400,
    mayChange: true,
    description: 'budget: most episodes that the steps play, without those of evaluations',
  },
  reflections: {
    type: 'integer',
    minimum: 1,
    default: 50,
    mayChange: true,
    description: 'budget: most requests to the reflection policy',
  },
  texts: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    description: 'names of the open texts to improve, in turn (default: all)',
  },
  minibatch: {
    type: 'integer',
    minimum: 1,
    default: 3,
    description: 'tasks of a step: the texts before and after a reflection play each once',
  },
  paretoTasks: {
    type: 'integer',
    minimum: 1,
    default: 16,
    description: 'training tasks on which texts are compared; minibatches have other tasks',
  },
  judgedBy: {
    type: 'string',
    minLength: 1,
    description:
      'reward component that is the score of an episode, such as em (default: the weighted sum of the outcome rewards)',
  },
  maxTextLength: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 4000,
    description: 'most characters of a text; longer proposals are refused',
  },
  episodeCharacters: {
    type: 'integer',
    minimum: 100,
    default: 6000,
    description: 'about how many characters of an episode the reflection policy reads',
  },
  reflectionTokens: {
    type: 'integer',
    minimum: 1,
    default: 2048,
    description: 'most tokens of an answer of the reflection policy',
  },
  reflectionTemperature: {
    type: 'number',
    minimum: 0,
    default: 1,
    description: 'sampling temperature of the reflection policy',
  },
  reflectionTimeout: {
    type: 'integer',
    minimum: 1,
    default: 300_000,
    mayChange: true,
    description: 'milliseconds that a reflection may take',
  },
} as const;

/** The options of GEPA alone; those of the run come in addition. */
export type GepaOptions = OptionsOf<{ properties: typeof gepaOptions }>;
