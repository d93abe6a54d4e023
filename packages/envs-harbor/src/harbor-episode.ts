/**
 * HarborEpisode: the life of an episode, top to bottom. The agent works in a container, which lasts for all steps of the task. At the end of
 * a step, what it has made is judged: declared artifacts are carried, as plain files, into a container that the agent never had, and
 * the tests run there.
 */
import { type Sandbox, ToolEnvError } from '@toolenv/core';
import { type ArchiveLimits, ContainerSandbox } from '@toolenv/sandbox/container';
import { AgentShell, openDoor } from './box/agent-shell.ts';
import { asFault, type Box, type Boxes } from './box/boxes.ts';
import { whyUnhealthy } from './box/health.ts';
import { prepareAgentBox, prepareStep, type Users } from './box/prepare.ts';
import type { BoxSpec, HarborStep, HarborTask, VerifierSpec } from './task/harbor-task.ts';
import { type Carried, carryArtifacts, carryChanges, together } from './verify/carry.ts';
import { type Judgement, judge } from './verify/judge.ts';
import { failed, isBelow, trialReward, type Verdict } from './verify/reward-file.ts';

export interface EpisodeTimes {
  /** Milliseconds of a command of the agent. */
  command: number;
  /** Factor for the times of the task. */
  factor: number;
}

/** Where an agent finds its model, as `defineAgentEnv` of @toolenv/gateway says. */
export interface ModelAddress {
  baseURL: string;
  apiKey: string;
  /** Ends the agent when it aborts. */
  signal: AbortSignal;
}

/** What a program of the agent came to. */
export interface AgentRun {
  /** The first 65,536 bytes, as of `stderr`. */
  stdout: string;
  stderr: string;
  /** 124 if the time of the task was over. */
  exitCode: number;
}

/** The agent's container in the current step. */
interface Agent {
  user: string;
  box: Box;
  users: Users;
  step: HarborStep;
  shell: AgentShell;
  /** Why the step could not be prepared, because the agent has broken the container in an earlier step. */
  broken?: string;
}

/** Milliseconds of an agent whose task gives it no time. */
const maxAgentTime = 24 * 3_600_000;

/** Bytes that are kept of stdout, and of stderr. */
const keptOutput = 2 ** 16;

export class HarborEpisode implements AsyncDisposable {
  readonly task: HarborTask;
  readonly #boxes: Boxes;
  readonly #times: EpisodeTimes;
  readonly #limits: ArchiveLimits;
  readonly #verdicts: Verdict[] = [];
  /** Containers that were asked for, until they are given up. */
  readonly #started: Set<Promise<Box>> = new Set();
  /** The agent's container. */
  #begun: Promise<{ box: Box; users: Users }> | undefined;
  #agent: Promise<Agent> | undefined;
  #closed = false;

  constructor(
    task: HarborTask,
    boxes: Boxes,
    { times, limits }: { times: EpisodeTimes; limits: ArchiveLimits },
  ) {
    this.task = task;
    this.#boxes = boxes;
    this.#times = times;
    this.#limits = limits;
  }

  /** The current step; `undefined` when the task is over: after the last step, or a step that did not earn enough. */
  get step(): HarborStep | undefined {
    const { steps } = this.task;
    const done = this.#verdicts.length;
    const last = this.#verdicts.at(-1);
    return last && isBelow(steps[done - 1]!, last) ? undefined : steps[done];
  }

  /** From 0 to 1, of the verdicts so far. */
  get reward(): number {
    return trialReward(this.task, this.#verdicts);
  }

  /** The agent's sandbox in the current step. The first call starts the container. */
  async sandbox(): Promise<Sandbox> {
    return (await this.#prepared()).shell;
  }

  /**
   * Runs an agent that is a program of the container, until it ends or its time is over. It finds its model in the variables
   * `OPENAI_BASE_URL`, `OPENAI_API_BASE`, `OPENAI_API_KEY`, `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY`, and the instruction in
   * `TOOLENV_INSTRUCTION`. It reaches nothing else, unless the task has a network.
   * @param script For `bash`, or `sh` where the image has none.
   * @throws ToolEnvError `infrastructure.*` if the machine fails; `usage.harbor_agent` if the model cannot be brought into the container.
   * @throws The reason of the signal.
   */
  async run(script: string, { baseURL, apiKey, signal }: ModelAddress): Promise<AgentRun> {
    const { box, user, step } = await this.#prepared();
    await using door = await openDoor(await this.#boxes.pid(box), baseURL);
    const env = {
      OPENAI_BASE_URL: door.baseURL,
      OPENAI_API_BASE: door.baseURL,
      OPENAI_API_KEY: apiKey,
      // Its clients add /v1 themselves.
      ANTHROPIC_BASE_URL: door.baseURL.replace(/\/v1$/, ''),
      ANTHROPIC_API_KEY: apiKey,
      TOOLENV_INSTRUCTION: step.instruction,
    };
    const timeout = (step.agent.timeout ?? maxAgentTime) * this.#times.factor;
    const { stdout, stderr, exitCode } = await asFault('The container of an agent failed', () =>
      box.container.exec(script, { timeout, output: keptOutput, user, folder: box.folder, env, signal }),
    );
    signal.throwIfAborted();
    const decoder = new TextDecoder();
    return { stdout: decoder.decode(stdout), stderr: decoder.decode(stderr), exitCode };
  }

  /**
   * Judges the current step. Call {@link add} with the verdict to go on.
   * @throws ToolEnvError `infrastructure.*` if the machine fails. What the agent has broken is a verdict of 0.
   */
  async judge(signal: AbortSignal): Promise<Judgement> {
    const { box, users, step, broken } = await this.#prepared();
    if (broken !== undefined) return { ...failed(broken), output: '' };
    const { verifier } = step;
    const isLast = step === this.task.steps.at(-1);
    await this.#collect(box, users, step, signal);
    const timeout = verifier.timeout * this.#times.factor;
    if (verifier.kind === 'shared') return judge(box, verifier, { timeout, goesOn: !isLast, signal });
    // Nothing that the agent has left running can change the files while they are read.
    await asFault('The container of an agent failed', () =>
      isLast ? box.container.kill() : this.#boxes.pause(box),
    );
    const fresh = this.#start(verifier.box);
    try {
      let carried: Carried;
      try {
        carried = await this.#carry(box, await fresh, verifier);
      } catch (error) {
        if (!ToolEnvError.isInstance(error) || error.code !== 'usage.sandbox_file') throw error;
        return {
          ...failed(`the agent's files are more than the verifier may get: ${error.message}`),
          output: '',
        };
      } finally {
        if (!isLast) await this.#boxes.resume(box).catch(() => {});
      }
      return await judge(await fresh, verifier, { carried, timeout, goesOn: false, signal });
    } finally {
      this.#remove(fresh);
    }
  }

  /** Reads what the verifier gets of the agent's files. */
  #carry({ container }: Box, fresh: Box, verifier: VerifierSpec): Promise<Carried> {
    return asFault("The agent's files cannot be read", async () => {
      const limits = { ...this.#limits };
      if (!verifier.carriesChanges) return carryArtifacts(container, verifier.artifacts, limits);
      const changes = await carryChanges(container, await this.#boxes.executed(fresh, verifier), limits);
      return together(changes, await carryArtifacts(container, verifier.artifacts, limits));
    });
  }

  /** Ends the current step with its verdict. */
  add(verdict: Verdict): void {
    this.#verdicts.push(verdict);
    this.#agent = undefined;
  }

  /** Gives up all containers, also those that are still being started. They are gone when the `Harbor` is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const starting of this.#started) this.#remove(starting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The agent's container, ready for the current step. */
  #prepared(): Promise<Agent> {
    this.#agent ??= this.#prepare(this.step!);
    return this.#agent;
  }

  async #prepare(step: HarborStep): Promise<Agent> {
    const isFirst = this.#begun === undefined;
    this.#begun ??= this.#begin();
    const { box, users } = await this.#begun;
    const user = users[step.agent.user]!;
    const broken = await prepareStep(box, step, user);
    if (broken !== undefined && isFirst)
      throw new ToolEnvError('infrastructure.harbor_setup', `${this.task.name}: ${broken}: repair the task.`);
    const { command: each, factor } = this.#times;
    // A container that the agent has ended stays as it is: what is in it is judged.
    const options = { timeout: each, output: keptOutput, folder: box.folder, user };
    const sandbox = new ContainerSandbox(box.container, options);
    const all = (step.agent.timeout ?? Number.POSITIVE_INFINITY) * factor;
    return {
      box,
      users,
      user,
      step,
      shell: new AgentShell(sandbox, { each, all }),
      ...(broken !== undefined && { broken }),
    };
  }

  async #begin(): Promise<{ box: Box; users: Users }> {
    const box = await this.#start(this.task.box);
    const users = await prepareAgentBox(box, this.task);
    const { health } = this.task.box;
    const broken = health && (await whyUnhealthy(box, health, box.user));
    if (broken !== undefined)
      throw new ToolEnvError('infrastructure.harbor_setup', `${this.task.name}: ${broken}: repair the task.`);
    return { box, users };
  }

  /** Runs the commands by which a task saves what is not in files. What they come to is seen in the artifacts. */
  async #collect(
    { container, folder }: Box,
    users: Users,
    { verifier }: HarborStep,
    signal: AbortSignal,
  ): Promise<void> {
    for (const { command, timeout, user } of verifier.collect) {
      const limit = timeout * this.#times.factor;
      await asFault('The container of an agent failed', () =>
        container.exec(command, { timeout: limit, output: 1000, user: users[user], folder, signal }),
      );
      signal.throwIfAborted();
    }
  }

  #start(spec: BoxSpec): Promise<Box> {
    if (this.#closed)
      throw new ToolEnvError('infrastructure.sandbox', 'The episode is closed: begin another.');
    const starting = this.#boxes.start(spec);
    starting.catch(() => {});
    this.#started.add(starting);
    return starting;
  }

  #remove(starting: Promise<Box>): void {
    if (this.#started.delete(starting)) this.#boxes.remove(starting);
  }
}
