/** The tools of an environment's roles, which can be made to hang or fail. */
import type { EnvDefinition, Tool, ToolFactory } from '@toolenv/core';
import { type ToolSource, toolFactory } from '@toolenv/core/plugins';

/** `none`: the tools work. `hang`: calls never settle. `fail`: calls reject. */
export type Fault = 'none' | 'hang' | 'fail';

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
