/** What the checks of an environment share: it, opened, with tasks to play and actions to take. */

import type { Action, EnvDefinition, EnvHandle, Observation } from '@toolenv/core';
import { deriveSeed } from '@toolenv/core';
import fc from 'fast-check';
import type { FaultyTools } from './faulty-tools.ts';
import { fuzzActions } from './fuzz-actions.ts';
import type { Reporter } from './report.ts';
import { WatchedEnv } from './watched-env.ts';

/** Definition of an environment whose task type the checks need not know. */
export type AnyEnvDefinition = EnvDefinition<unknown, Record<string, unknown>>;

export class EnvSubject {
  readonly definition: AnyEnvDefinition;
  readonly open: EnvHandle<unknown>;
  readonly tools: FaultyTools;
  /** Some of its tasks, of every split that has any. */
  readonly tasks: readonly unknown[];
  readonly report: Reporter;
  /** Milliseconds that a reset or a step may take. */
  readonly timeout: number;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;

  constructor(
    of: Pick<
      EnvSubject,
      'definition' | 'open' | 'tools' | 'tasks' | 'report' | 'timeout' | 'seed' | 'signal'
    >,
  ) {
    this.definition = of.definition;
    this.open = of.open;
    this.tools = of.tools;
    this.tasks = of.tasks;
    this.report = of.report;
    this.timeout = of.timeout;
    this.seed = of.seed;
    this.signal = of.signal;
  }

  /** The index-th task, counting around. */
  task(index: number): unknown {
    return this.tasks[index % this.tasks.length];
  }

  /** A fresh Env, whose broken rules are reported. */
  watched(): WatchedEnv<unknown> {
    const { timeout, report } = this;
    return new WatchedEnv(this.open.episode(), {
      timeout,
      onViolation: (violation) => report.add(violation),
    });
  }

  /** Runs `use` with a fresh Env under watch, which is closed whatever happens. */
  async withWatched<T>(use: (env: WatchedEnv<unknown>) => Promise<T>): Promise<T> {
    const env = this.watched();
    try {
      return await use(env);
    } finally {
      // What is wrong with close() is found by its own check.
      await env.env.close().catch(() => {});
    }
  }

  /** The same actions for the same observation and number, whoever asks. */
  actions({ tools }: Observation, number: number, count = 8): Action[] {
    const { maxCallsPerTurn } = this.definition.limits;
    const arbitrary = fuzzActions(tools, { maxCalls: Math.min(maxCallsPerTurn, 3) + 1, huge: 2000 });
    return fc.sample(arbitrary, { seed: deriveSeed(this.seed, 'actions', number), numRuns: count });
  }
}

/** An answer of nothing. */
export const nothing: Action = { text: '', toolCalls: [], stopReason: 'stop' };

/** A call of a tool that no environment has. */
export const wrongCall: Action = {
  text: '',
  toolCalls: [{ id: 'call-0', name: 'no_such_tool_here', arguments: {} }],
  stopReason: 'tool_call',
};
