/** Playground: the environment, the policy and its training, controlled by the orders of the page. */
import { rm } from 'node:fs/promises';
import { messageOf, type Observation, type OpenedEnv, openEnv } from '@toolenv/core';
import type { QaRecord } from '@toolenv/envs-qa';
import bridge from '@toolenv/envs-qa/bridge-v1';
import { loadPolicy, parameterCount, type TransformerPolicy } from '@toolenv/policy';
import search from '@toolenv/tools-search/search-v1';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import { PlaySession } from '../../packages/view/src/play/play-session.ts';
import { fetchCheckpoint } from './checkpoint-files.ts';
import type { Order, PlaygroundState, Work } from './messages.ts';
import { envOptions, training } from './setting.ts';

const checkpoint = '/policy';
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
  steps: 0,
  lines: [],
  problem: '',
};

export class Playground {
  readonly #env: OpenedEnv<QaRecord>;
  readonly #tell: (state: PlaygroundState) => void;
  #policy: TransformerPolicy;
  #state = nothingYet;
  #session: PlaySession<QaRecord> | undefined;
  /** Ends the episode. */
  #leave = new AbortController();
  /** Ends training. */
  #stop = new AbortController();

  private constructor(
    env: OpenedEnv<QaRecord>,
    policy: TransformerPolicy,
    tell: (state: PlaygroundState) => void,
  ) {
    this.#env = env;
    this.#policy = policy;
    this.#tell = tell;
  }

  /** @param tell Called with each new state. */
  static async open(tell: (state: PlaygroundState) => void): Promise<Playground> {
    await fetchCheckpoint(checkpoint);
    const env = await openEnv(bridge, envOptions, { seed, tools: { search } });
    const playground = new Playground(env, await loadPolicy(checkpoint), tell);
    const { test } = env.tasks;
    const tasks = await Promise.all(Array.from({ length: await test.length }, (_, index) => test.get(index)));
    playground.#set({
      work: 'nothing',
      parameters: parameterCount(playground.#policy.model.config),
      questions: tasks.map(({ question }) => question),
      rewardSpec: env.episode().spec.rewards,
    });
    playground.#choose(0);
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
    if (order.type === 'train') return this.#work('training', () => this.#train(order.steps));
    return this.#work('loading', () => this.#reset());
  }

  /** Does one thing at a time, and tells what went wrong. */
  async #work(work: Work, what: () => Promise<void>): Promise<void> {
    this.#set({ work, problem: '' });
    await what().catch((error: unknown) => this.#set({ problem: messageOf(error) }));
    this.#set({ work: 'nothing' });
  }

  #choose(question: number): void {
    this.#leave.abort(new Error('left'));
    const leave = new AbortController();
    this.#leave = leave;
    this.#set({ question, rightAnswer: undefined, problem: '' });
    const task = this.#env.tasks.test.get(question);
    const keep = async () => this.#set({ rightAnswer: (await task).answer });
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
    await this.#write(await this.#policy.act(observation, sampling));
  }

  /** Writes a turn and waits for the environment. */
  async #write(turn: Parameters<PlaySession<QaRecord>['write']>[0]): Promise<void> {
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

  async #train(steps: number): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const before = this.#state.steps;
    let began = performance.now();
    try {
      // Each training has other tasks and samples than the one before.
      const run = { env: this.#env, policy: this.#policy, trainer, steps, out, seed: seed + before, signal };
      for await (const event of train({ ...run, trajectories: false })) {
        if (event.type !== 'rollout' && event.type !== 'update') continue;
        const line = { type: event.type, step: before + event.step, metrics: event.metrics };
        this.#set({ lines: [...this.#state.lines, line] });
        if (event.type === 'rollout') continue;
        const now = performance.now();
        this.#set({ steps: line.step, secondsPerStep: (now - began) / 1000 });
        began = now;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  }

  async #reset(): Promise<void> {
    await this.#policy.close();
    this.#policy = await loadPolicy(checkpoint);
    this.#set({ steps: 0, lines: [], secondsPerStep: undefined });
  }

  #set(changes: Partial<PlaygroundState>): void {
    this.#state = { ...this.#state, ...changes };
    this.#tell(this.#state);
  }
}
