/** `toolenv list`: lists the installed plugins from their manifests. */
import { ToolEnvError } from '@toolenv/core';
import { listPlugins, type PluginInfo, pluginKinds } from '@toolenv/core/plugins';
import { paint } from '../display/guarded-output.ts';
import { safeLine, terminalWidth, wrapText } from '../display/terminal-text.ts';
import { pluginFolders } from '../subject/full-name.ts';
import { type PluginDetails, pluginDetails } from '../subject/plugin-details.ts';
import type { MakeCommand } from './commands.ts';

interface Flags {
  kind?: string;
  json?: boolean;
  details?: boolean;
}

/** Columns of a description at most: longer lines are hard to read. */
const widestText = 110;

export const make: MakeCommand = (command) => {
  command
    .description(
      'Lists the plugins that are installed here, by reference. Without --details, it reads package.json files and runs no plugin. With --details, it loads each plugin and says what it is.',
    )
    .option('--kind <kind>', `only these: ${pluginKinds.join(', ')}`)
    .option('--json', 'print a JSON array of {ref, kind, package, version}')
    .option(
      '--details',
      'load each plugin, and add its description; with --json also its options, rewards, limits, capabilities and roles',
    )
    .action(list);
};

async function list({ kind, json, details }: Flags): Promise<void> {
  const known: readonly string[] = pluginKinds;
  if (kind !== undefined && !known.includes(kind)) {
    throw new ToolEnvError('usage.bad_flag', `--kind ${kind}: give one of ${known.join(', ')}.`);
  }
  const plugins = listPlugins(pluginFolders(), ({ message }) =>
    process.stderr.write(`Left out: ${safeLine(message)}\n`),
  );
  const shown = plugins.filter((plugin) => kind === undefined || plugin.kind === kind);
  const listed: readonly (PluginInfo & Partial<PluginDetails>)[] = details
    ? await Promise.all(shown.map((plugin) => pluginDetails(plugin)))
    : shown;
  process.stdout.write(`${json ? JSON.stringify(listed) : listText(listed, terminalWidth())}\n`);
}

function listText(plugins: readonly (PluginInfo & Partial<PluginDetails>)[], width: number): string {
  const none = 'No plugin is installed here. Begin with: npm install @toolenv/envs-qa';
  const widest = Math.max(0, ...plugins.map(({ ref }) => ref.length));
  const groups = pluginKinds.flatMap((kind) => {
    const rows = plugins.filter((plugin) => plugin.kind === kind);
    const lines = rows.map(
      (plugin) => `  ${plugin.ref.padEnd(widest)}  ${packageText(plugin)}${aboutText(plugin, width)}`,
    );
    return lines.length > 0 ? [[paint('bold', kind), ...lines].join('\n')] : [];
  });
  return groups.join('\n\n') || none;
}

/** What the plugin says of itself, or why it cannot be loaded, below its reference. */
function aboutText({ description, error }: Partial<PluginDetails>, width: number): string {
  const about = error === undefined ? description : `cannot be loaded: ${error}`;
  if (about === undefined) return '';
  const columns = Math.min(width, widestText);
  const text = wrapText(safeLine(about), { width: columns, indent: '      ' });
  return `\n${error === undefined ? text : paint('yellow', text)}`;
}

/** The version of the package, and the name in its package.json if that is not the name of its folder. */
function packageText({ version, declaredName }: PluginInfo): string {
  const name = declaredName === undefined ? '' : `  its package.json says "${safeLine(declaredName)}"`;
  return safeLine(version) + name;
}
