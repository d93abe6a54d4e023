/** Whether a teacher can read the tokens of a student: each token of the student must be the same token of the teacher. */
import { type Policy, ToolEnvError } from '@toolenv/core';

type Known = Pick<Policy, 'spec' | 'vocabulary'>;

/**
 * A teacher may know more tokens: models of one family add their own.
 * @throws ToolEnvError `usage.teacher_tokens`, naming the first token that differs.
 */
export function refuseOtherTokens(student: Known, teacher: Known): void {
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
