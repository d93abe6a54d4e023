/** ToolPlugin: what a package publishes for a tool. */

import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Tool } from '../protocol/tool.ts';

/** A tool that a package publishes. */
export interface ToolPlugin<Material = unknown> {
  /** `<name>-v<N>`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the options that a reference may give: `<package>/<name>-v<N>?folder=wiki&topK=5`. Default: no options. */
  readonly options?: JsonSchema;
  /** The material of the tool that `toolenv check` makes and the documentation shows. */
  readonly example: {
    /** Material that `create` accepts. */
    readonly material: Material;
    /** Arguments that the tool serves. */
    readonly calls?: readonly Record<string, unknown>[];
  };
  /**
   * Makes the tool from the material that an environment supplies for the role. Called once per run: all episodes share the
   * tool. Create what is slow here (an index, a connection), and release it in the tool's `close`.
   * @param options The options that the reference gives, with the schema's defaults. Absent if the plugin itself is given.
   */
  create(material: Material, options?: Record<string, unknown>): Promise<Tool>;
}

/** Types the options of a tool plugin. Returns its argument. */
export function defineToolPlugin<Material>(plugin: ToolPlugin<Material>): ToolPlugin<Material> {
  return plugin;
}
