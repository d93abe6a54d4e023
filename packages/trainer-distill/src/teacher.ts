/** The teacher: a policy that says how likely it finds the tokens that the student sampled. */
import { type Policy, ToolEnvError } from '@toolenv/core';
import type { Learner, Rows, TokenBatch } from '@toolenv/core/learner';
import { openPolicy, type PolicyHandle, type Run } from '@toolenv/core/plugins';
import { untilAborted } from '@toolenv/core/tools';
import { BusyClock } from '@toolenv/training';

/** Reads tokens as the `forward` of a learner does. */
export interface Teacher extends Pick<Learner, 'forward'> {
  /** The seconds of reading since the last call of this method. */
  takeSeconds(): number;
  close(): Promise<void>;
}

/**
 * @param source The name of a policy, which the run opens and closes, or an open policy.
 * @returns A teacher whose `forward` throws ToolEnvError `usage.teacher_context` for a row that is longer than its context,
 *   `infrastructure.teacher_logprobs` for numbers that are no log-probabilities, and what the policy throws; the signal's reason.
 * @throws ToolEnvError `usage.teacher_scores` for a policy that scores no tokens, `usage.teacher_tokens` for other tokens than
 *   the student's, and what opening a policy throws.
 */
export async function openTeacher(
  source: PolicyHandle | string,
  { policy: student, seed, signal }: Pick<Run, 'policy' | 'seed' | 'signal'>,
  deadline: number,
): Promise<Teacher> {
  const isOwned = typeof source === 'string';
  const policy = isOwned ? await openPolicy(source, { seed, signal, deadline }) : source;
  const close = async () => {
    if (isOwned) await policy.close?.();
  };
  try {
    const score = scorerOf(policy);
    refuseOtherTokens(student, policy);
    const clock = new BusyClock();
    const forward = async (batch: TokenBatch) => {
      refuseLong(batch, policy);
      const logprobs = await clock.time(() => untilAborted(signal, () => score(batch, { signal })));
      refuseStrange(policy.spec.name, batch, logprobs);
      return { logprobs };
    };
    return { forward, takeSeconds: () => clock.take(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function refuseLong({ rows }: TokenBatch, { spec: { name, contextLength } }: PolicyHandle): void {
  const longest = rows.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
  if (longest <= contextLength) return;
  const message = `The teacher ${name} reads ${contextLength} tokens, and an episode has ${longest}: lower maxTokens or the turns of the environment, or take a teacher with a longer context.`;
  throw new ToolEnvError('usage.teacher_context', message);
}

function scorerOf(policy: PolicyHandle): NonNullable<PolicyHandle['score']> {
  const { learner } = policy;
  if (policy.score) return (batch, options) => policy.score!(batch, options);
  if (learner) return async (batch) => (await learner.forward(batch)).logprobs;
  const message = `The teacher ${policy.spec.name} gives no log-probabilities of tokens that it did not sample: name a checkpoint folder, a model on vLLM, SGLang or llama.cpp with its tokenizer, or a Tinker server.`;
  throw new ToolEnvError('usage.teacher_scores', message);
}

function refuseStrange(name: string, { rows }: TokenBatch, logprobs: Rows): void {
  for (const [b, { mask }] of rows.entries()) {
    for (const [t, bit] of mask.entries()) {
      const logprob = logprobs[b]?.[t];
      if (bit === 0 || (Number.isFinite(logprob) && logprob! <= 1e-3)) continue;
      const message = `The teacher ${name} gives the log-probability ${logprob} for token ${t} of row ${b}: check its weights, or its server.`;
      throw new ToolEnvError('infrastructure.teacher_logprobs', message);
    }
  }
}

type Known = Pick<Policy, 'spec' | 'vocabulary'>;

/**
 * A teacher may know more tokens: models of one family add their own.
 * @throws ToolEnvError `usage.teacher_tokens`, naming the first token that differs.
 */
function refuseOtherTokens(student: Known, teacher: Known): void {
  const [read, written] = [vocabularyOf(teacher, 'teacher'), vocabularyOf(student, 'student')];
  for (const [id, token] of [...written].sort(([a], [b]) => a - b)) {
    if (read.get(id) === token) continue;
    const other = read.has(id) ? JSON.stringify(read.get(id)) : 'no token';
    const message = `The teacher ${teacher.spec.name} has other tokens than the student ${student.spec.name}: token ${id} is ${JSON.stringify(token)} of the student and ${other} of the teacher. Take a teacher with the tokenizer of the student, or let the student learn from the teacher's episodes: toolenv rollout, then @toolenv/trainer-sft/sft-v1.`;
    throw new ToolEnvError('usage.teacher_tokens', message);
  }
}

function vocabularyOf({ spec, vocabulary }: Known, role: string): ReadonlyMap<number, string> {
  if (vocabulary) return vocabulary;
  const message = `The ${role} ${spec.name} does not say what its tokens are, so that they cannot be compared: give its option "tokenizer", for a teacher as ?tokenizer=<folder> behind its name.`;
  throw new ToolEnvError('usage.teacher_tokens', message);
}
