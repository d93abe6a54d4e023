/** What the checks of an environment share: the open environment, tasks to play, and actions to take. */
import {
  type Action,
  deriveSeed,
  type EnvDefinition,
  type EnvHandle,
  type Observation,
  type Rewards,
  type Tool,
  type ToolFactory,
} from '@toolenv/core';
import { type ToolSource, toolFactory } from '@toolenv/core/plugins';
import fc from 'fast-check';
import type { Reporter } from '../report.ts';
import type { Violation } from '../violation.ts';
import { fuzzActions } from './fuzz-actions.ts';
import { type Watch, WatchedEnv } from './watched-env.ts';

/** Definition of an environment with any task type. */
export type AnyEnvDefinition = EnvDefinition<unknown, Record<string, unknown>>;

export class EnvSubject {
  readonly definition!: AnyEnvDefinition;
  readonly open!: EnvHandle<unknown>;
  readonly tools!: FaultyTools;
  /** Some of the tasks of every split. */
  readonly tasks!: readonly unknown[];
  readonly report!: Reporter;
  /** Milliseconds that a reset or a step may take. */
  readonly timeout!: number;
  readonly seed!: number;
  readonly signal: AbortSignal | undefined;
  /** Two different values of each component at the end of the episodes so far, or one if there is no second. Unscored is 0. */
  readonly totals: Map<string, Set<number>> = new Map();
  /** What the oracle did in its episodes so far, by the number of the task. */
  readonly oracleActions: Map<number, Action[]> = new Map();

  constructor(
    of: Pick<
      EnvSubject,
      'definition' | 'open' | 'tools' | 'tasks' | 'report' | 'timeout' | 'seed' | 'signal'
    > &
      Partial<Pick<EnvSubject, 'totals' | 'oracleActions'>>,
  ) {
    Object.assign(this, of);
  }

  /** The same check in another opening of the environment. */
  openedAs(open: EnvHandle<unknown>): EnvSubject {
    return new EnvSubject({ ...this, open });
  }

  /** Task number `index`, modulo their number. */
  task(index: number): unknown {
    return this.tasks[index % this.tasks.length];
  }

  /** A fresh Env. By default, rules that it breaks are reported. */
  watched(
    onViolation: Watch['onViolation'] = (violation) => this.report.add(violation),
  ): WatchedEnv<unknown> {
    const onEnd = (rewards: Rewards): void => {
      for (const [name, value] of Object.entries(rewards)) {
        const seen = this.totals.get(name) ?? new Set();
        if (seen.size < 2) this.totals.set(name, seen.add(value ?? 0));
      }
    };
    // An injected fault aborts on purpose.
    const isExpected = ({ rule }: Violation) =>
      rule === 'WARN-6' && (this.tools.fault !== 'none' || !this.report.wants(rule));
    const watch = (violation: Violation) => {
      if (!isExpected(violation)) onViolation(violation);
    };
    return new WatchedEnv(this.open.episode(), { timeout: this.timeout, onViolation: watch, onEnd });
  }

  /** Runs `use` with a fresh watched Env, and closes the Env in any case. */
  async withWatched<T>(use: (env: WatchedEnv<unknown>) => Promise<T>): Promise<T> {
    const env = this.watched();
    try {
      return await use(env);
    } finally {
      // ENV-10 has its own check of close().
      await env.env.close().catch(() => {});
    }
  }

  /** Fuzzed actions, always the same for the same tools and number. */
  actions({ tools }: Observation, number: number, count = 8): Action[] {
    const { maxCallsPerTurn } = this.definition.limits;
    const arbitrary = fuzzActions(tools, { maxCalls: Math.min(maxCallsPerTurn, 3) + 1, huge: 2000 });
    return fc.sample(arbitrary, { seed: deriveSeed(this.seed, 'actions', number), numRuns: count });
  }
}

/** An empty answer. */
export const nothing: Action = { text: '', toolCalls: [], stopReason: 'stop' };

/** A call of an unknown tool. */
export const wrongCall: Action = {
  text: '',
  toolCalls: [{ id: 'call-0', name: 'no_such_tool_here', arguments: {} }],
  stopReason: 'tool_call',
};

/** `none`: the tools work. `hang`: calls never settle. `fail`: calls reject. */
type Fault = 'none' | 'hang' | 'fail';

export class FaultyTools {
  fault: Fault = 'none';
  /** Names of the tools that were created. */
  readonly names: Set<string> = new Set();
  readonly factories: Record<string, ToolFactory<never>> = {};

  /** @param folders Folders from which referenced plugins are searched for. */
  constructor(
    { roles }: Pick<EnvDefinition, 'roles'>,
    given: Record<string, ToolSource>,
    folders: readonly string[],
  ) {
    for (const [role, fallback] of Object.entries(roles)) {
      const tool = given[role] ?? fallback;
      this.factories[role] = async (material) => {
        const factory = await toolFactory(tool, { from: folders });
        return this.#faulty(await factory(material));
      };
    }
  }

  #faulty(tool: Tool): Tool {
    this.names.add(tool.name);
    const { name, description, inputSchema, outputSchema, annotations } = tool;
    return {
      name,
      description,
      inputSchema,
      outputSchema,
      annotations,
      execute: (args, context) => {
        if (this.fault === 'hang') return new Promise(() => {});
        if (this.fault === 'fail') return Promise.reject(new Error('a fault injected by the check'));
        return tool.execute(args, context);
      },
      release: async (episodeId) => tool.release?.(episodeId),
      close: async () => tool.close?.(),
    };
  }
}

/** A failing tool does not count: state that episodes share may have made it fail. */
const abortedElsewhere = /"outcome":\{"kind":"aborted","cause":\{"code":"(?!infrastructure\.tool_)/;

/**
 * Whether a judge or a server failed, which says nothing of the environment. WARN-6 names it.
 * @param transition As JSON.
 */
export function failedElsewhere(transition: string): boolean {
  return abortedElsewhere.test(transition);
}
