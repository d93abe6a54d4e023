/** ScoreByTool: the score of a reward that asks a tool, such as a judge. It brings the role and the options of the tool into its environment. */
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Tool } from '../protocol/tool.ts';

/**
 * A score that asks a tool. The calls are recorded, replayed and limited as all calls of an environment are. It is a function, because TypeScript
 * then infers its context from the environment around it.
 */
export interface ScoreByTool<Context> {
  /** The value, or `null` for "not scored". `this` is the tool, which it asks with `context.call(this, …)`. */
  (this: Tool, context: Context): Promise<number | null>;
  /** The role that the tool fills. Scores of one role share one tool. */
  readonly role: string;
  /** Reference of the tool plugin that fills the role unless another is given. */
  readonly tool: string;
  /** JSON Schemas of the options that the environment gets for the tool. */
  readonly options: Readonly<Record<string, JsonSchema>>;
  /** What the tool is made from. Receives the complete options of the environment. */
  material(options: Readonly<Record<string, unknown>>): unknown;
}
