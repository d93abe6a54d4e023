/** Looks for answers where no work is needed to read them: in the descriptions of tools, and in the replies to mistakes. */
import type { Observation, Script, ToolCall, Trajectory } from '@toolenv/core';
import { wrongCall } from '../env/env-subject.ts';
import { randomCall } from '../env/fuzz-actions.ts';
import { findWords } from '../find-words.ts';

/**
 * Makes a mistake of each kind: a tool that does not exist; calls without arguments, with wrong arguments, and with arguments that fit the
 * schemas and name nothing; and two wrong answers.
 */
export const mistaken: Script = ({ tools }, turn) => {
  const calls = (args: Record<string, unknown>) => tools.map(({ name }) => ({ name, arguments: args }));
  const guessed = tools.flatMap((tool) => randomCall([tool], turn).toolCalls as ToolCall[]);
  const turns = [wrongCall, calls({}), calls({ wrong: [] }), guessed, 'I do not know.', 'x'];
  const said = turns[turn] ?? '';
  return Array.isArray(said) && said.length === 0 ? 'no' : said;
};

/** A text that a policy reads without work, and how a report names it. */
interface Road {
  name: string;
  textOf(episode: Trajectory): string;
}

const firstOf = ({ steps }: Trajectory): Observation => steps[0]!.observation;
const promptOf = (episode: Trajectory) =>
  firstOf(episode)
    .messages.map(({ content }) => content)
    .join('\n');

const roads: readonly Road[] = [
  { name: 'in the descriptions of its tools', textOf: (episode) => JSON.stringify(firstOf(episode).tools) },
  { name: 'in the reply to a mistake or a wrong answer', textOf: (episode) => repliesIn(episode) },
  {
    name: 'named as the answer in the result of a call that knows nothing',
    textOf: (episode) => namedAnswers(resultsOf(episode, false).join('\n')),
  },
  // Reading comprehension shows its answers, among other words and without a name.
  { name: 'named as the answer in its first messages', textOf: (episode) => namedAnswers(promptOf(episode)) },
];

/** What the environment says to wrong answers, and to calls that fail. */
function repliesIn(episode: Trajectory): string {
  const said = episode.steps.at(-1)!.observation.messages.slice(firstOf(episode).messages.length);
  const replies = said.filter(({ role }) => role === 'user').map(({ content }) => content);
  return [...replies, ...resultsOf(episode, true)].join('\n');
}

/** What the model reads of calls that fail, or of those that do not. */
function resultsOf({ steps }: Trajectory, fails: boolean): string[] {
  const records = steps.flatMap(({ calls }) => calls);
  return records
    .filter(({ result, mistake }) => (mistake !== undefined || result?.isError === true) === fails)
    .map(({ text }) => text);
}

export interface Leak {
  road: string;
  /** Share of the tasks whose own answer is there. */
  own: number;
  answer: string;
}

/**
 * A road on which a task's own answer lies, far more often than that of another task.
 * @param answers The answer of each episode's task; `undefined` if it has none.
 */
export function leakOf(
  episodes: readonly Trajectory[],
  answers: readonly (string | undefined)[],
): Leak | undefined {
  const known = episodes.flatMap((episode, task) => {
    const answer = answers[task];
    // A letter or a digit is in every text.
    return (answer?.length ?? 0) < 2 || episode.steps.length === 0 ? [] : [{ episode, answer: answer! }];
  });
  if (known.length === 0) return undefined;
  for (const { name, textOf } of roads) {
    const texts = known.map(({ episode }) => textOf(episode));
    const says = (task: number, answer: string) => findWords(texts[task]!, answer) >= 0;
    const found = known.map(({ answer }, task) => says(task, answer));
    const own = shareOf(found);
    const others = shareOf(
      known.flatMap(({ answer }, task) => {
        const other = known[(task + 1) % known.length]!.answer;
        return other === answer ? [] : [says(task, other)];
      }),
    );
    const leaked = found.indexOf(true);
    if (own - others >= telling && leaked >= 0) return { road: name, own, answer: known[leaked]!.answer };
  }
  return undefined;
}

/** How much more often its own answer may be found than that of another task. */
const telling = 0.25;

function shareOf(found: readonly boolean[]): number {
  return found.length === 0 ? 0 : found.filter(Boolean).length / found.length;
}

/** What follows a word for an answer, as in a task that was printed as a whole. */
function namedAnswers(text: string): string {
  const named =
    /\b(?:answers?|solution|gold|label|target|expected|secret|ground.?truth)\b["'*_` ]*[:=]["'*_` ]*([^\n]{1,200})/giu;
  return [...text.matchAll(named)].map(([, what]) => what).join('\n');
}

/** The answer in the oracle's last words: in its tags, behind its mark, or the whole; `undefined` if it ends with a call. */
export function answerOf({ steps }: Trajectory): string | undefined {
  const last = steps.at(-1);
  if (!last || last.action.toolCalls.length > 0) return undefined;
  const { text } = last.action;
  const [, marked] =
    /<answer>(.*?)<\/answer>|####\s*(.+)|\\boxed\{(.*?)\}/su
      .exec(text)
      ?.filter((part) => part !== undefined) ?? [];
  const answer = (marked ?? text).trim();
  return answer === '' || answer.length > 200 ? undefined : answer;
}
