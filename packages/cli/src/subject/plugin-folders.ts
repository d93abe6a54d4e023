/** pluginFolders: where the command line looks for plugins. */

/** References are resolved from the working folder first, then from the folder of this command. */
export function pluginFolders(): string[] {
  return [process.cwd(), import.meta.dirname];
}
