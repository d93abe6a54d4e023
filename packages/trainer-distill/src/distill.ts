/**
 * On-policy distillation: the student plays, and the teacher says how likely it finds each token that the student sampled. The
 * advantage of a token is log p_teacher − log p_student, whose mean is minus the reverse KL of the token (MiniLLM, arXiv 2306.08543;
 * GKD, arXiv 2306.13649; "on-policy distillation" of Thinking Machines, 2025). The whole algorithm.
 */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { Rows, TokenValues } from '@toolenv/core/learner';
import type { Metrics, PolicyHandle } from '@toolenv/core/plugins';
import {
  type AdvantageEstimator,
  type AlgorithmContext,
  advantageInputs,
  type ConfigurableTrainer,
  checkLoss,
  computeLogprobs,
  defineTrainer,
  differsFromSampler,
  estimateAdvantages,
  estimatorOf,
  learnDefaults,
  meanOverTokens,
  penalisedRewards,
  type RolloutBatch,
  type RunOptions,
  runOptimizerSteps,
  samplerMetrics,
} from '@toolenv/training';
import { type DistillOptions, distillOptions } from './distill-options.ts';
import { openTeacher, type Teacher } from './teacher.ts';

export const distill: ConfigurableTrainer<DistillOptions & RunOptions> = trainerWith();
export default distill;

/** The trainer with a teacher that is open. It stays open after the run, whose record has its name. */
export function distillFrom(teacher: PolicyHandle): ConfigurableTrainer<DistillOptions & RunOptions> {
  return trainerWith(teacher)({ teacher: teacher.spec.name });
}

/** @param open Takes the place of the policy that the option names. */
function trainerWith(open?: PolicyHandle): ConfigurableTrainer<DistillOptions & RunOptions> {
  return defineTrainer<JsonSchema, DistillOptions>({
    name: 'distill',
    description: 'On-policy distillation (arXiv 2306.13649): a teacher rates the tokens of the student',
    options: distillOptions,
    defaults: { tasksPerStep: 32, groupSize: 4 },
    resolve: learnDefaults,
    async create(context) {
      const { options, run } = context;
      refuseUnfit(context);
      const teacher = await openTeacher(open ?? options.teacher, run, options.deadline);
      return {
        learnsUnscored: options.rewardCoefficient === 0,
        update: (batch) => update(batch, teacher, context),
        close: () => teacher.close(),
      };
    },
  });
}

type Context = AlgorithmContext<DistillOptions>;

/** One update, from the episodes of a rollout. */
async function update(batch: RolloutBatch, teacher: Teacher, context: Context): Promise<Metrics> {
  const { rows, seed } = batch;
  const { options, run, learner, report } = context;
  const { temperature } = options;
  const mask = rows.map((row) => row.mask);

  // 1. What the student, its sampler and the teacher say of each token that the student sampled.
  const scored = await computeLogprobs(rows, mask, {
    // With one update per rollout, the sampled log-probabilities are the student's own: nothing needs to be computed.
    ...((differsFromSampler(options, run) || options.entropyCoefficient > 0) && { learner }),
    reference: teacher,
    temperature,
  });
  const { outputs, oldLogprobs, sampledLogprobs } = scored;
  const teacherLogprobs = scored.referenceLogprobs!;

  // 2. How much likelier each token is to the teacher, and how much better its episode did than the others of its group.
  const earned = rewardAdvantages(batch, mask, context);
  const { advantages, metrics } = rateTokens(earned, oldLogprobs, teacherLogprobs, mask, options);
  report('advantages', rows, advantages);
  if (outputs?.entropy) report('entropies', rows, outputs.entropy);

  // 3. The optimizer steps.
  const tokens = { ...scored, rows, mask, advantages };
  return {
    ...(await runOptimizerSteps(tokens, [...rows.keys()], { seed, klInLoss: 0 }, context)),
    ...(outputs && samplerMetrics(outputs.logprobs, sampledLogprobs, mask)),
    ...metrics,
    'time/teacher': teacher.takeSeconds(),
  };
}

/** [B][T] the advantages of the environment's rewards, weighted; 0 without them. */
function rewardAdvantages(
  { trajectories, rows }: RolloutBatch,
  mask: readonly Uint8Array[],
  context: Context,
): TokenValues {
  const { options } = context;
  const { rewardCoefficient: weight } = options;
  if (weight === 0) return rows.map(({ tokens }) => new Float64Array(tokens.length));
  const rewards = rows.map((row) => row.rewards);
  const inputs = advantageInputs(trajectories, rows, rewards, mask);
  const earned = estimateAdvantages(estimatorOf(context), inputs, { ...options });
  return earned.map((row) => row.map((each) => weight * each));
}

/**
 * Arrays are [B][T]. Values at mask 0 are ignored.
 * @param earned Advantages of the environment's rewards, weighted.
 * @returns `earned` + teacherCoefficient · (log p_teacher − log p_student) at mask 1, and how far the student is from the teacher.
 */
export function rateTokens(
  earned: TokenValues,
  student: Rows,
  teacher: Rows,
  mask: readonly Uint8Array[],
  { teacherCoefficient: beta, klClamp }: Pick<DistillOptions, 'teacherCoefficient' | 'klClamp'>,
): { advantages: Float64Array[]; metrics: Metrics } {
  const penalty = { beta, klEstimator: 'k1', klClamp } as const;
  const { rewards: advantages } = penalisedRewards(earned, student, teacher, mask, penalty);
  const mean = (value: (difference: number) => number) =>
    meanOverTokens(
      student.map((row, b) => Float64Array.from(row, (logprob, t) => value(logprob - teacher[b]![t]!))),
      mask,
    );
  const metrics = {
    'teacher/reverse_kl': mean((nats) => nats),
    'teacher/agreement': mean((nats) => Math.exp(Math.min(0, -nats))),
  };
  return { advantages, metrics };
}

/** @throws ToolEnvError `usage.bad_option` */
function refuseUnfit(context: Context): void {
  const { options, parts } = context;
  checkLoss('distill', context);
  if (options.rewardCoefficient === 0) return;
  const refuse = (option: string, why: string) =>
    new ToolEnvError('usage.bad_option', `distill: option "${option}": ${why}.`);
  const estimator = parts.advantage as AdvantageEstimator | undefined;
  if (estimator?.needsCritic) throw refuse('advantage', `${estimator.name} needs a critic: take another one`);
  if (options.groupSize > 1) return;
  const remedy = 'give 2 or more, or set rewardCoefficient 0';
  throw refuse('groupSize', `rewards are compared within the episodes of a task: ${remedy}`);
}
