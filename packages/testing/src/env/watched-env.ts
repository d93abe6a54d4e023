/** WatchedEnv: checks every answer of an Env against the rules and records it. */
import {
  type Action,
  type Env,
  type Message,
  type Observation,
  type Rewards,
  ToolEnvError,
  type Transition,
} from '@toolenv/core';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { withTimeout } from '../in-time.ts';
import { notJson } from '../json-value.ts';
import { brief, causeText, thrown, thrownText, Violation } from '../violation.ts';
import {
  checkTransitionForm,
  plainTransition,
  toolViolations,
  transitionViolations,
} from './transition-rules.ts';

export interface Watch {
  /** Milliseconds that a reset or a step may take. */
  timeout: number;
  /** Called with each rule that an answer breaks. Throw to stop. */
  onViolation(violation: Violation): void;
  /** Called with the rewards of each episode that ends and is scored, summed over its steps. */
  onEnd(rewards: Rewards): void;
}

/** Throws a {@link Violation} if an answer is missing or too malformed to continue. */
export class WatchedEnv<Task> {
  readonly env: Env<Task>;
  readonly #watch: Watch;
  /** One text of JSON for the reset and one for each step of the episode, with the times of calls set to 0. */
  transcript: string[] = [];
  /** The first observation of each conversation of the episode. */
  #firsts: ReadonlyMap<string | undefined, Observation> = new Map();
  #observation: Observation | undefined;
  /** The JSON of the last observation: with a long history, writing it is most of the work of a step. */
  #before = '';
  /** Turns of the first player. */
  #turns = 0;
  #totals: Rewards = {};
  /** Whether the episode goes on. */
  running = false;

  constructor(env: Env<Task>, watch: Watch) {
    this.env = env;
    this.#watch = watch;
  }

  async reset(task: Task, seed: number): Promise<Observation> {
    this.transcript = [];
    const given = structuredClone(task);
    const observation = await this.#answered('reset()', () => this.env.reset({ task: given, seed }));
    this.#expectSame('the task', JSON.stringify(task), given);
    checkForm(observation);
    this.#report(toolViolations(observation.tools));
    this.#report(observationViolations(observation, observation));
    this.#firsts = new Map([[observation.conversation, observation]]);
    this.#record(observation);
    this.#totals = Object.fromEntries(Object.keys(this.env.spec.rewards).map((name) => [name, null]));
    this.running = true;
    this.#turns = 0;
    return observation;
  }

  async step(action: Action): Promise<Transition> {
    const last = this.#observation!;
    // The same objects, not copies, because compiled schemas are cached by object.
    const { tools: offered, conversation } = last;
    const given = structuredClone(action);
    const transition = await this.#answered(`step(${brief(action)})`, () => this.env.step(given));
    this.#expectSame('the last observation', this.#before, last);
    this.#expectSame('the action', JSON.stringify(action), given);
    checkTransitionForm(transition);
    if (!this.env.spec.players?.includes(conversation ?? '')) this.#turns += 1;
    const step = { action, spec: this.env.spec, offered, conversation, turn: this.#turns };
    this.#report(transitionViolations(transition, step));
    this.#score(transition.rewards);
    const { outcome } = transition;
    this.running = outcome.kind === 'running';
    if (outcome.kind === 'aborted') {
      const what = `an answer to ${brief(action.toolCalls.length > 0 ? action.toolCalls : action.text)}`;
      this.#watch.onViolation(new Violation('WARN-6', what, causeText(outcome.cause)));
    }
    if (this.running) {
      const { observation: next } = transition;
      const first = this.#firsts.get(next.conversation) ?? next;
      this.#firsts = new Map([...this.#firsts, [next.conversation, first]]);
      this.#report(observationViolations(next, first));
    } else if (outcome.kind !== 'aborted') {
      this.#watch.onEnd(this.#totals);
    }
    const { observation, ...rest } = plainTransition(transition);
    this.#record(observation, rest);
    return transition;
  }

  /** Resets, then takes the actions until the actions or the episode end. */
  async play(task: Task, seed: number, actions: Iterable<Action>): Promise<Transition[]> {
    await this.reset(task, seed);
    return this.take(actions);
  }

  /** Takes the actions until the actions or the episode end. */
  async take(actions: Iterable<Action>): Promise<Transition[]> {
    const transitions: Transition[] = [];
    for (const action of actions) {
      if (!this.running) break;
      transitions.push(await this.step(action));
    }
    return transitions;
  }

  async close(): Promise<void> {
    await this.#answered('close()', () => this.env.close());
  }

  #report(violations: Iterable<Violation>): void {
    for (const violation of violations) this.#watch.onViolation(violation);
  }

  #score(rewards: Rewards = {}): void {
    for (const [name, value] of Object.entries(rewards)) {
      if (value !== null) this.#totals[name] = (this.#totals[name] ?? 0) + value;
    }
  }

  #record(observation: Observation, rest: object = {}): void {
    this.#observation = observation;
    this.#before = JSON.stringify(observation);
    this.transcript.push(timeless(`${JSON.stringify(rest)} ${this.#before}`));
  }

  async #answered<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout('ENV-28', `an answer to ${what}`, this.#watch.timeout, work);
    } catch (error) {
      if (error instanceof Violation) throw error;
      const expected = `an answer to ${what}`;
      if (!ToolEnvError.isInstance(error))
        throw new Violation('ENV-27', expected, thrownText(error), hintFor(error));
      if (error.code === 'bug.no_reply') throw new Violation('ENV-37', expected, brief(error));
      throw thrown('ENV-27', expected, error);
    }
  }

  #expectSame(what: string, before: string, value: unknown): void {
    if (JSON.stringify(value) === before) return;
    const expected = `${what} left as it was: ${brief(before)}`;
    this.#watch.onViolation(new Violation('ENV-13', expected, brief(value)));
  }
}

function checkForm(observation: Observation): void {
  const unheld = notJson(observation);
  if (unheld) throw new Violation('ENV-16', 'an observation that JSON can hold', unheld);
  const wrong = validate(wireSchemas.observation, observation)[0];
  if (wrong)
    throw new Violation('ENV-14', `${wrong.path || 'the observation'} ${wrong.expected}`, wrong.received);
}

/** A quotation mark inside a text of JSON follows a backslash, so that only keys match. */
function timeless(json: string): string {
  const timeless = json.replaceAll(/"milliseconds":[^,}]+/g, '"milliseconds":0');
  // A verdict that is known already costs nothing.
  return timeless.replaceAll(/,"usage":{"requests":\d+,"inputTokens":\d+,"outputTokens":\d+}/g, '');
}

/** A score or a hook that reads what a model need not write. */
function hintFor(error: unknown): string | undefined {
  const isAbsent = error instanceof TypeError && /of (undefined|null)\b/.test(error.message);
  if (!isAbsent) return undefined;
  return 'What is read there may be absent: a score has no answer if the episode ends without one (answer?.trim()), and a model may leave out any value.';
}

/** @param first The first observation of the conversation. */
function* observationViolations(observation: Observation, first: Observation): Generator<Violation> {
  const { messages } = observation;
  const last = messages.at(-1);
  if (last?.role === 'assistant') {
    const received = `the assistant's ${brief(last.content)}`;
    yield new Violation('ENV-37', 'a message after that of the assistant', received);
  }
  const empty = messages.findIndex(({ role, content }) => role === 'user' && content.trim() === '');
  if (empty >= 0) {
    const expected = `text in message ${empty + 1}, of the user`;
    yield new Violation('WARN-2', expected, brief(messages[empty]!.content));
  }
  const task = first.messages.filter(isTask).map(({ content }) => content);
  const isGone = (content: string) => !messages.some((message) => message.content.includes(content));
  if (task.length > 0 && task.every(isGone)) {
    yield new Violation('WARN-1', `the task ${brief(task.at(-1))} in every observation`, brief(messages));
  }
}

function isTask({ role, content }: Message): boolean {
  return (role === 'user' || role === 'system') && content.trim() !== '';
}
