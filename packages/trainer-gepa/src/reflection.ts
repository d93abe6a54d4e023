/** Reflection: asks a policy for a better text, and keeps each answer, so that a resumed run does not ask again. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Action, type Policy, ToolEnvError } from '@toolenv/core';
import { readJsonLines, writeAtomic } from '@toolenv/core/files';
import { openPolicy, type PolicySource, type Run } from '@toolenv/core/plugins';
import { tryObject } from '@toolenv/core/schemas';
import { redactSecrets } from '@toolenv/core/secrets';
import { withinDeadline } from '@toolenv/core/tools';
import type { GepaOptions } from './gepa-options.ts';
import { type ReflectionQuestion, reflectionMessages } from './reflection-messages.ts';

/** One line of reflections.jsonl. */
interface ReflectionLine {
  /** From 1. */
  step: number;
  /** Name of the text. */
  name: string;
  /** SHA-256 of the request. */
  request: string;
  /** The new text, or why the answer is not used. */
  text?: string;
  refused?: string;
  /** The answer, cut. */
  answer: string;
}

const maxKeptLength = 8000;

export interface Reflection {
  /**
   * A better text, or why there is none: an answer that is not as asked is refused, and the evolution goes on.
   * @throws ToolEnvError `usage.reflection_context` for a request that is too long for the policy; what the policy throws; the signal's
   *   reason.
   */
  ask(question: ReflectionQuestion & Place): Promise<Answer>;
  close(): Promise<void>;
}

interface Place {
  /** From 0. */
  step: number;
  seed: number;
}

/** @throws ToolEnvError What opening the policy throws. */
export async function openReflection(
  run: Run,
  options: GepaOptions,
  given: PolicySource | undefined = options.reflection,
): Promise<Reflection> {
  const { seed, signal, out, resume } = run;
  const { maxTextLength, episodeCharacters, reflectionTimeout: deadline } = options;
  const file = join(out, 'reflections.jsonl');
  let lines = resume ? await readLines(file) : [];
  // The run's own policy is closed by others.
  const opened = given === undefined ? undefined : await openPolicy(given, { seed, signal, deadline });
  return {
    async ask({ step, seed, ...question }) {
      const messages = reflectionMessages(question, { maxTextLength, episodeCharacters });
      const { name, prompts } = question;
      const limits = { longest: maxTextLength, old: prompts[name]! };
      const request = createHash('sha256').update(JSON.stringify(messages)).digest('hex');
      const known = lines.find((line) => line.step === step + 1 && line.request === request);
      if (known)
        return known.text === undefined ? { refused: String(known.refused) } : checked(known.text, limits);

      const action = await act(opened ?? run.policy, messages, { step, seed, signal, options });
      const answer =
        action === undefined ? { refused: 'it took too long' } : readAnswer(Object(action), limits);
      const kept = redactSecrets(String(action?.text ?? '')).slice(0, maxKeptLength);
      const line: ReflectionLine = { step: step + 1, name, request, ...answer, answer: kept };
      // A resumed run may come to another request, after which the answers of later steps are of no use.
      lines = [...lines.filter((other) => other.step <= step), line];
      await writeAtomic(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
      return answer;
    },
    close: async () => opened?.close?.(),
  };
}

/** `undefined` if it took too long. */
async function act(
  policy: Policy,
  messages: ReturnType<typeof reflectionMessages>,
  { step, seed, signal: parent, options }: Place & { signal: Run['signal']; options: GepaOptions },
): Promise<Action | undefined> {
  const { reflectionTokens: maxTokens, reflectionTemperature: temperature, reflectionTimeout } = options;
  const episodeId = `reflection-${step + 1}`;
  const late = new Error('late');
  const controller = new AbortController();
  const limit = { after: reflectionTimeout, parent, reason: () => late };
  const sampling = { maxTokens, temperature, seed, episodeId, signal: controller.signal };
  try {
    return await withinDeadline(limit, () => policy.act({ messages, tools: [] }, sampling));
  } catch (error) {
    if (error === late) return undefined;
    if (!ToolEnvError.isInstance(error) || !error.code.startsWith('context.')) throw error;
    const remedy =
      'lower episodeCharacters or minibatch, or choose a reflection policy with a longer context';
    const message = `The reflection policy ${policy.spec.name} cannot read the episodes (${error.message}): ${remedy}.`;
    throw new ToolEnvError('usage.reflection_context', message, { cause: error });
  } finally {
    controller.abort();
    await policy.endEpisode?.(episodeId);
  }
}

/** A text that was kept is checked again: the file may have been changed. */
function checked(text: string, limits: { longest: number; old: string }): Answer {
  const mistake = textMistake(text, limits);
  return mistake === undefined ? { text } : { refused: mistake };
}

/** The lines that are as this program writes them. A line that was lost is asked again. */
async function readLines(file: string): Promise<ReflectionLine[]> {
  const lines: ReflectionLine[] = [];
  if (!existsSync(file)) return lines;
  for await (const { text } of readJsonLines(file, { skipHalfWritten: true })) {
    const line = tryObject(text) as Partial<ReflectionLine> | undefined;
    const isAnswer = typeof line?.text === 'string' || typeof line?.refused === 'string';
    if (isAnswer && Number.isInteger(line?.step) && typeof line?.request === 'string')
      lines.push(line as ReflectionLine);
  }
  return lines;
}

/** A new text, or why there is none, without words of the answer. */
type Answer = { text: string } | { refused: string };

interface Limits {
  /** Characters. */
  longest: number;
  /** The text as it was. */
  old: string;
}

/** Characters. A longer answer is not read. */
const maxAnswerLength = 200_000;
const fence = /^\s*```/;

/** The text between the first and the last line of three backticks. */
function readAnswer({ text, toolCalls, stopReason }: Action, limits: Limits): Answer {
  // Nobody else has checked what the policy returns.
  if (typeof text !== 'string') return { refused: 'it is not a text' };
  if (stopReason === 'length') return { refused: 'it was cut off before its end' };
  if (toolCalls?.length > 0) return { refused: 'it called a tool' };
  if (text.length > maxAnswerLength) return { refused: `it has ${text.length} characters` };
  const lines = text.split(/\r?\n/);
  const first = lines.findIndex((line) => fence.test(line));
  const last = lines.findLastIndex((line) => fence.test(line));
  if (first === last) return { refused: 'it has no text between two lines of three backticks' };
  const proposed = lines
    .slice(first + 1, last)
    .join('\n')
    .trim();
  const refused = textMistake(proposed, limits);
  return refused === undefined ? { text: proposed } : { refused };
}

/** Why a text cannot be used. `undefined` if it can. */
function textMistake(text: string, { longest, old }: Limits): string | undefined {
  if (text === '') return 'its text is empty';
  if (text.length > longest)
    return `its text has ${text.length} characters, and at most ${longest} are allowed`;
  if (unprintable.test(text)) return 'its text has control characters';
  if (redactSecrets(text) !== text) return 'its text has a secret of this process';
  if (text === old.trim()) return 'its text is the old one';
  return undefined;
}

/** Control characters but tabs and line feeds, halves of surrogate pairs, and characters that turn the direction of writing. */
const unprintable = /[^\P{Cc}\t\n]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u;
