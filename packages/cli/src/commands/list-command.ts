/** `toolenv list`: lists the installed plugins from their manifests. */
import { ToolEnvError } from '@toolenv/core';
import { listPlugins, type PluginInfo, pluginKinds } from '@toolenv/core/plugins';
import { Command } from 'commander';

interface Flags {
  kind?: string;
  json?: boolean;
}

export function listCommand(): Command {
  return new Command('list')
    .summary('list the installed environments, tools, trainers and policies')
    .description(
      'Lists the plugins that are installed here, by reference. It reads package.json files and runs no plugin.',
    )
    .option('--kind <kind>', `only these: ${pluginKinds.join(', ')}`)
    .option('--json', 'print a JSON array of {ref, kind, package, version}')
    .action(list);
}

function list({ kind, json }: Flags): void {
  const known: readonly string[] = pluginKinds;
  if (kind !== undefined && !known.includes(kind)) {
    throw new ToolEnvError('usage.bad_flag', `--kind ${kind}: give one of ${known.join(', ')}.`);
  }
  // References are resolved from the working folder first, then from the folder of this command.
  const folders = [process.cwd(), import.meta.dirname];
  const plugins = listPlugins(folders, ({ message }) => process.stderr.write(`Left out: ${message}\n`));
  const shown = plugins.filter((plugin) => kind === undefined || plugin.kind === kind);
  process.stdout.write(`${json ? JSON.stringify(shown) : listText(shown)}\n`);
}

function listText(plugins: readonly PluginInfo[]): string {
  const none = 'No plugin is installed here. Begin with: npm install @toolenv/envs-qa';
  const width = Math.max(0, ...plugins.map(({ ref }) => ref.length));
  const groups = pluginKinds.flatMap((kind) => {
    const rows = plugins.filter((plugin) => plugin.kind === kind);
    const lines = rows.map(({ ref, version }) => `  ${ref.padEnd(width)}  ${version}`);
    return lines.length > 0 ? [[kind, ...lines].join('\n')] : [];
  });
  return groups.join('\n\n') || none;
}
