/** openScores: the tools that the scores of an environment ask, and the scores once the tools are open. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Tool } from '../protocol/tool.ts';
import type { ToolFactory } from './env-definition.ts';
import type { RewardDeclaration, ScoredReward } from './reward-declaration.ts';
import type { ScoreByTool } from './score-by-tool.ts';

type Declared = Readonly<Record<string, RewardDeclaration<never>>>;

/** The tools that the scores of an environment ask, by role. */
export type ScoreTools = ReadonlyMap<string, ScoreByTool<never>>;

/** @throws ToolEnvError `bug.environment` if two scores want different tools in one role. */
export function scoreToolsOf(env: string, rewards: Declared): ScoreTools {
  const tools = new Map<string, ScoreByTool<never>>();
  for (const [name, { score }] of Object.entries(rewards)) {
    if (!asksTool(score)) continue;
    const { role, tool, options } = score;
    const other = tools.get(role);
    if (other && !(other.tool === tool && JSON.stringify(other.options) === JSON.stringify(options))) {
      const message = `${env}: the score of "${name}" asks another tool in the role "${role}" than the score before it: give it another role.`;
      throw new ToolEnvError('bug.environment', message);
    }
    tools.set(role, other ?? score);
  }
  return tools;
}

/** The options that the environment gets for the tools. */
export function scoreOptionsOf(tools: ScoreTools): Record<string, JsonSchema> {
  return Object.assign({}, ...[...tools.values()].map(({ options }) => options));
}

/** The rewards, whose scores ask the tools that `factories` make, by role. */
export async function openScores(
  rewards: Declared,
  tools: ScoreTools,
  options: Readonly<Record<string, unknown>>,
  factories: Readonly<Record<string, ToolFactory>>,
): Promise<{ rewards: Readonly<Record<string, ScoredReward<never>>>; close(): Promise<void> }> {
  const open = new Map<string, Tool>();
  const close = async () => {
    for (const tool of open.values()) await tool.close?.();
  };
  try {
    for (const [role, asking] of tools) open.set(role, await factories[role]!(asking.material(options)));
  } catch (error) {
    await close();
    throw error;
  }
  const bound = Object.entries(rewards).map(([name, { kind, score }]) => {
    if (!asksTool(score)) return [name, { kind, score }];
    return [name, { kind, score: (context: never) => score.call(open.get(score.role)!, context) }];
  });
  return { rewards: Object.fromEntries(bound), close };
}

function asksTool(score: RewardDeclaration<never>['score']): score is ScoreByTool<never> {
  return score !== undefined && 'tool' in score;
}
