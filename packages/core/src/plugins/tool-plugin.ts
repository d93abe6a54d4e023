/** ToolPlugin: what a package publishes for a tool. */
import type { ToolFactory } from '../env/env-definition.ts';

export interface ToolPlugin<Material = unknown> {
  /** `<name>-v<N>`. */
  readonly name: string;
  readonly description: string;
  /** What `toolenv check` makes the tool from, and documentation shows. */
  readonly example: {
    /** Material that `create` accepts. */
    readonly material: Material;
    /** Arguments that the tool serves. */
    readonly calls?: readonly Record<string, unknown>[];
  };
  /**
   * Makes the tool from the material that an environment supplies for the role. Called once per run: all episodes share the
   * tool. Create what is slow here (an index, a connection), and release it in the tool's `close`.
   */
  create: ToolFactory<Material>;
}

export function defineToolPlugin<Material>(plugin: ToolPlugin<Material>): ToolPlugin<Material> {
  return plugin;
}
