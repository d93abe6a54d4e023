/** `toolenv list`: lists the installed plugins from their manifests. */
import { ToolEnvError } from '@toolenv/core';
import { listPlugins, type PluginInfo, pluginKinds } from '@toolenv/core/plugins';
import { safeLine } from '../display/terminal-text.ts';
import { pluginFolders } from '../subject/find-subject.ts';
import { pluginDetails } from '../subject/plugin-details.ts';
import type { MakeCommand } from './make-command.ts';

interface Flags {
  kind?: string;
  json?: boolean;
  details?: boolean;
}

export const make: MakeCommand = (command) => {
  command
    .description(
      'Lists the plugins that are installed here, by reference. Without --details, it reads package.json files and runs no plugin.',
    )
    .option('--kind <kind>', `only these: ${pluginKinds.join(', ')}`)
    .option('--json', 'print a JSON array of {ref, kind, package, version}')
    .option(
      '--details',
      'with --json: load each plugin, and add its description, options, rewards, limits, capabilities and roles',
    )
    .action(list);
};

async function list({ kind, json, details }: Flags): Promise<void> {
  const known: readonly string[] = pluginKinds;
  if (kind !== undefined && !known.includes(kind)) {
    throw new ToolEnvError('usage.bad_flag', `--kind ${kind}: give one of ${known.join(', ')}.`);
  }
  if (details && !json) {
    const message = '--details is for --json: read about a plugin with toolenv info <ref>.';
    throw new ToolEnvError('usage.arguments', message);
  }
  const plugins = listPlugins(pluginFolders(), ({ message }) =>
    process.stderr.write(`Left out: ${safeLine(message)}\n`),
  );
  const shown = plugins.filter((plugin) => kind === undefined || plugin.kind === kind);
  const listed = details ? await Promise.all(shown.map((plugin) => pluginDetails(plugin))) : shown;
  process.stdout.write(`${json ? JSON.stringify(listed) : listText(shown)}\n`);
}

function listText(plugins: readonly PluginInfo[]): string {
  const none = 'No plugin is installed here. Begin with: npm install @toolenv/envs-qa';
  const width = Math.max(0, ...plugins.map(({ ref }) => ref.length));
  const groups = pluginKinds.flatMap((kind) => {
    const rows = plugins.filter((plugin) => plugin.kind === kind);
    const lines = rows.map((plugin) => `  ${plugin.ref.padEnd(width)}  ${packageText(plugin)}`);
    return lines.length > 0 ? [[kind, ...lines].join('\n')] : [];
  });
  return groups.join('\n\n') || none;
}

/** The version of the package, and the name in its package.json if that is not the name of its folder. */
function packageText({ version, declaredName }: PluginInfo): string {
  const name = declaredName === undefined ? '' : `  its package.json says "${safeLine(declaredName)}"`;
  return safeLine(version) + name;
}
