/** Playground: the environment, the policy and its training, controlled by the orders of the page. */
import { rm } from 'node:fs/promises';
import {
  type EnvDefinition,
  type EnvHandle,
  messageOf,
  type Observation,
  openEnv,
  playTask,
  type Trajectory,
} from '@toolenv/core';
import bridge from '@toolenv/envs-qa/bridge-v1';
import { loadPolicy, parameterCount, type TransformerPolicy } from '@toolenv/policy';
import search from '@toolenv/tools-search/search-v1';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import { tokenTexts } from '../../packages/policy/src/checkpoint/token-texts.ts';
import { PlaySession } from '../../packages/view/src/play/play-session.ts';
import { checkResult } from './check-result.ts';
import { fetchCheckpoint, type PolicyName } from './checkpoint-files.ts';
import { heldOutScore } from './held-out.ts';
import { learnedEpisodes } from './learned-episodes.ts';
import type { Compared, HeldOut, Order, PlaygroundState, Training, Work } from './messages.ts';
import { envOptions, maxQuestions, training } from './setting.ts';
import { environmentDefinition, rewardFunction, withReward } from './user-code.ts';
import { weightsDigest } from './weights-digest.ts';

const out = '/trained';
const seed = 1;
const trainer = grpo({ ...training, checkpointEvery: 0 });

/** The state before anything is loaded. */
export const nothingYet: PlaygroundState = {
  work: 'loading',
  parameters: 0,
  questions: [],
  question: 0,
  rewardSpec: {},
  code: { environment: '', reward: '' },
  steps: 0,
  lines: [],
  trainings: [],
  heldOut: {},
  learned: [],
  problem: '',
};

type Env = EnvHandle<unknown>;

/** A policy, and the texts of its tokens. */
interface Model {
  name: PolicyName;
  policy: TransformerPolicy;
  texts(ids: Int32Array): string[];
}

export class Playground {
  readonly #tell: (state: PlaygroundState) => void;
  #env: Env;
  #model: Model;
  #state = nothingYet;
  #session: PlaySession<unknown> | undefined;
  /** Ends the episode. */
  #leave = new AbortController();
  /** Ends training. */
  #stop = new AbortController();

  private constructor(env: Env, model: Model, tell: (state: PlaygroundState) => void) {
    this.#env = env;
    this.#model = model;
    this.#tell = tell;
  }

  /** @param tell Called with each new state. */
  static async open(tell: (state: PlaygroundState) => void): Promise<Playground> {
    const model = await loadModel('tiny');
    const env = await opened(bridge as unknown as EnvDefinition<unknown>, envOptions);
    const playground = new Playground(env, model, tell);
    playground.#set({ work: 'nothing', parameters: parametersOf(model) });
    await playground.#show(env);
    return playground;
  }

  async follow(order: Order): Promise<void> {
    if (order.type === 'stop') return this.#stop.abort(new Error('stopped'));
    if (this.#state.work !== 'nothing') return;
    if (order.type === 'choose') return this.#choose(order.question);
    if (order.type === 'turn') {
      const { written } = order;
      return this.#work('acting', async () => (written ? this.#write(written) : this.#act()));
    }
    if (order.type === 'play') return this.#work('acting', () => this.#play());
    if (order.type === 'train') return this.#work('training', () => this.#train(order.trainings));
    if (order.type === 'use') return this.#work('checking', () => this.#use(order));
    return this.#work('loading', () => this.#load(this.#model.name));
  }

  /** Does one thing at a time, and tells what went wrong. */
  async #work(work: Work, what: () => Promise<void>): Promise<void> {
    this.#set({ work, problem: '' });
    await what().catch((error: unknown) => this.#set({ problem: messageOf(error) }));
    this.#set({ work: 'nothing' });
  }

  /** Opens what the reader wrote. The environment before it stays if that fails. */
  async #use(code: PlaygroundState['code']): Promise<void> {
    this.#set({ checked: undefined });
    const own = code.environment === '' ? undefined : environmentDefinition(code.environment);
    const reward = code.reward === '' ? undefined : rewardFunction(code.reward);
    if (own) {
      const checked = await checkResult(own, toolsFor(own));
      this.#set({ checked });
      if (!checked.ok) throw new Error('The environment breaks rules, which are listed below the code.');
    }
    const env = own
      ? await opened(own)
      : await opened(bridge as unknown as EnvDefinition<unknown>, envOptions);
    const name = own ? 'small' : 'tiny';
    if (name !== this.#model.name)
      await this.#load(name).catch(async (error: unknown) => {
        await env.close();
        throw error;
      });
    const before = this.#env;
    await this.#show(reward ? withReward(env, reward) : env);
    this.#set({ code, learned: [], compared: undefined, heldOut: {} });
    await before.close();
  }

  /** Plays the environment from now on. */
  async #show(env: Env): Promise<void> {
    const { test } = env.tasks;
    const count = Math.min(await test.length, maxQuestions);
    const tasks = await Promise.all(Array.from({ length: count }, (_, index) => test.get(index)));
    this.#env = env;
    this.#set({ questions: tasks.map(questionOf), rewardSpec: env.episode().spec.rewards });
    this.#choose(Math.min(this.#state.question, Math.max(0, count - 1)));
  }

  #choose(question: number): void {
    this.#leave.abort(new Error('left'));
    const leave = new AbortController();
    this.#leave = leave;
    this.#set({ question, rightAnswer: undefined, problem: '' });
    const task = this.#env.tasks.test.get(question);
    const keep = async () => this.#set({ rightAnswer: answerOf(await task) });
    const session = new PlaySession({ env: this.#env, task: () => task, seed, keep, signal: leave.signal });
    this.#session = session;
    const follow = () => {
      if (!leave.signal.aborted) this.#set({ episode: session.state });
    };
    session.follow(follow);
    follow();
  }

  async #play(): Promise<void> {
    while (!this.#state.episode?.trajectory && !this.#state.episode?.problem) await this.#act();
  }

  /** The policy's own turn, greedily. */
  async #act(): Promise<void> {
    const observation = await this.#observation();
    if (!observation) return;
    const sampling = { maxTokens: training.maxTokens, temperature: 0, seed, signal: this.#leave.signal };
    await this.#write(await this.#model.policy.act(observation, sampling));
  }

  /** Writes a turn and waits for the environment. */
  async #write(turn: Parameters<PlaySession<unknown>['write']>[0]): Promise<void> {
    if (!(await this.#observation())) return;
    this.#session!.write(turn);
    await this.#observation();
  }

  /** What the policy sees when its turn comes; `undefined` if the episode ends first. */
  #observation(): Promise<Observation | undefined> {
    const session = this.#session!;
    return new Promise((resolve) => {
      const look = () => {
        const { observation, trajectory, problem } = session.state;
        if (!observation && !trajectory && problem === undefined) return;
        stop();
        resolve(observation);
      };
      const stop = session.follow(look);
      look();
    });
  }

  /** Trains, and shows what became of the chosen question and of the held-out questions. */
  async #train(trainings: readonly Training[]): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const { question, questions, steps: from } = this.#state;
    const before = await this.#answer(question);
    const compared: Compared = { question: questions[question] ?? '', from, before };
    this.#set({ compared });
    if (!this.#state.heldOut.before) this.#set({ heldOut: { before: await this.#heldOut(signal) } });
    for (const training of trainings) if (!signal.aborted) await this.#trainOnce(training, signal);
    const { steps: to } = this.#state;
    const weights = await weightsDigest(this.#model.policy);
    this.#set({ weights, compared: { ...compared, to, after: await this.#answer(question) } });
    // A training that was stopped has its score too.
    const after = await this.#heldOut(new AbortController().signal);
    this.#set({ heldOut: { ...this.#state.heldOut, after } });
  }

  #heldOut(signal: AbortSignal): Promise<HeldOut> {
    return heldOutScore(this.#env, this.#model.policy, signal);
  }

  async #trainOnce({ steps, seed }: Training, signal: AbortSignal): Promise<void> {
    const before = this.#state.steps;
    const { trainings } = this.#state;
    try {
      // Each training has other tasks and samples than the one before.
      const run = {
        env: this.#env,
        policy: this.#model.policy,
        trainer,
        steps,
        out,
        seed: seed + before,
        signal,
      };
      let [began, played] = [performance.now(), [] as readonly Trajectory[]];
      for await (const event of train({ ...run, trajectories: false })) {
        if (event.type !== 'rollout' && event.type !== 'update') continue;
        const step = before + event.step;
        this.#set({ lines: [...this.#state.lines, { type: event.type, step, metrics: event.metrics }] });
        if (event.type === 'rollout') played = event.trajectories;
        else {
          const now = performance.now();
          const learned = learnedEpisodes(played, event.tokens ?? [], this.#model.texts);
          const secondsPerStep = (now - began) / 1000;
          // A training of fewer steps has the same first steps.
          const known = [...trainings, { steps: event.step, seed }];
          this.#set({ steps: step, trainings: known, secondsPerStep, learned });
          began = now;
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  }

  /** Answers a question of the test split greedily. */
  async #answer(question: number): Promise<Trajectory> {
    const task = await this.#env.tasks.test.get(question);
    const sampling = { maxTokens: training.maxTokens, temperature: 0 };
    return await playTask(this.#env, task, this.#model.policy, { sampling, seed });
  }

  /** Loads a policy as it was before training. */
  async #load(name: PolicyName): Promise<void> {
    const model = await loadModel(name);
    await this.#model.policy.close();
    this.#model = model;
    const untrained = { steps: 0, lines: [], trainings: [], weights: undefined, secondsPerStep: undefined };
    this.#set({
      ...untrained,
      learned: [],
      compared: undefined,
      heldOut: {},
      parameters: parametersOf(model),
    });
  }

  #set(changes: Partial<PlaygroundState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#tell(this.#state);
  }
}

function opened(definition: EnvDefinition<unknown>, options = {}): Promise<Env> {
  return openEnv(definition, options, { seed, tools: toolsFor(definition) });
}

/** A tab cannot load the plugin of a role by its name. */
function toolsFor({ roles }: Pick<EnvDefinition<unknown>, 'roles'>): Record<string, typeof search> {
  return 'search' in roles ? { search } : {};
}

async function loadModel(name: PolicyName): Promise<Model> {
  const folder = await fetchCheckpoint(name);
  return { name, policy: await loadPolicy(folder), texts: await tokenTexts(folder) };
}

function parametersOf({ policy }: Model): number {
  return parameterCount(policy.model.config);
}

/** What the list of questions shows of a task. */
function questionOf(task: unknown): string {
  const { question } = Object(task) as { question?: unknown };
  return typeof question === 'string' ? question : (JSON.stringify(task) ?? '').slice(0, 200);
}

function answerOf(task: unknown): string | undefined {
  const { answer } = Object(task) as { answer?: unknown };
  return typeof answer === 'string' ? answer : undefined;
}
