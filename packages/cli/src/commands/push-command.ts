/** `toolenv push`: uploads the trained policy of a run to the Hugging Face Hub. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { bestCheckpoint, readMetrics } from '@toolenv/training';
import { newestCheckpoint } from '@toolenv/training/runs';
import { findRecordedRun, type RecordedRun, validationScores } from '@toolenv/view/recorded';
import { Progress } from '../display/progress.ts';
import { safeLine } from '../display/terminal-text.ts';
import { modelCard } from '../run/model-card.ts';
import { findEnv } from '../subject/find-subject.ts';
import { loadNamed, policyReference } from '../subject/load-named.ts';
import type { MakeCommand } from './commands.ts';

interface Flags {
  private?: boolean;
  revision?: string;
  json?: boolean;
}

const megabyte = 1e6;

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Uploads the trained policy of a run to the Hugging Face Hub, with a model card: scores with intervals, environment, options, and the command that repeats the run. The adapter goes with it, if there is one. HF_TOKEN, or the token of "hf auth login", must be allowed to write. Files of the repository with the same names are replaced, and the others stay.',
    )
    .argument('<run>', 'folder of a training run that has ended')
    .argument('<name>', 'repository, such as my-name/my-model; created if it does not exist')
    .option('--private', 'make a new repository private (default: the setting of the account)')
    .option('--revision <branch>', 'branch to write; created if it does not exist (default: main)')
    .option('--json', 'print one JSON object: the address, the commit, and the files')
    .action((run: string, name: string, flags: Flags) => pushRun(run, name, flags, signal));
};

async function pushRun(
  run: string,
  name: string,
  { private: isPrivate, revision, json }: Flags,
  signal: AbortSignal,
): Promise<void> {
  const { parseHubName, push } = await import('@toolenv/hub');
  const asked = parseHubName(name);
  if (!asked || asked.revision !== undefined) {
    const message = `${name} is not the name of a repository: write <owner>/<name>, such as my-name/my-model, and a branch with --revision.`;
    throw new ToolEnvError('usage.hub_name', message);
  }
  const files = await filesOf(run, asked.name);
  const bar = new Progress(`${asked.name}, MB`, 0);
  try {
    const { url, commit, bytes } = await push({
      ...{ name: asked.name, revision, isPrivate, files, signal },
      title: 'Upload a policy that toolenv trained',
      onProgress(done, total) {
        bar.total(Math.ceil(total / megabyte));
        bar.update(Math.floor(done / megabyte), '');
      },
    });
    bar.stop();
    const summary = { url, commit, bytes, files: Object.keys(files) };
    const text = `${url} has the policy (${(bytes / megabyte).toFixed(1)} MB, commit ${commit.slice(0, 12)}). Use it: --policy ${asked.name}`;
    process.stdout.write(`${json ? JSON.stringify(summary) : safeLine(text)}\n`);
  } finally {
    bar.stop();
  }
}

/** The files of the policy, and its card. */
async function filesOf(
  run: string,
  name: string,
): Promise<Record<string, { file: string } | { content: string }>> {
  const { kind, facts } = findRecordedRun(run);
  const folder = join(run, 'policy');
  if (kind !== 'training' || !existsSync(join(folder, 'config.json'))) {
    const message = `${run} has no trained policy: give the folder of a training run that has ended, or end it with --resume.`;
    throw new ToolEnvError('usage.no_policy', message);
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: Record<string, { file: string } | { content: string }> = {};
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(folder.length + 1).replaceAll('\\', '/');
    if (entry.isFile()) files[path] = path === adapterConfig ? { content: await adapterOf(file) } : { file };
  }
  const step = ((await bestCheckpoint(run)) ?? (await newestCheckpoint(run)))?.step ?? 0;
  const scores = validationScores((await readMetrics(run)).filter((line) => line.step <= step));
  const hasAdapter = adapterConfig in files;
  const card = modelCard({ name, config: facts, scores, step, hasAdapter, schemas: await schemasOf(facts) });
  return { ...files, 'README.md': { content: card } };
}

/** The schemas of the plugins that are installed here. */
async function schemasOf({
  env,
  policy,
  trainer,
}: RecordedRun['facts']): Promise<Parameters<typeof modelCard>[0]['schemas']> {
  const optional = async (load: () => Promise<{ options: JsonSchema } | undefined>) =>
    (await load().catch(() => undefined))?.options;
  return {
    env: await optional(async () => (env === undefined ? undefined : (await findEnv(env))?.definition)),
    policy: await optional(() => loadNamed('policies', policyReference(policy ?? '').ref)),
    trainer: await optional(() => loadNamed('trainers', trainer ?? '')),
  };
}

const adapterConfig = 'adapter/adapter_config.json';

/** Names a base that is a folder of this machine by its last part. */
async function adapterOf(file: string): Promise<string> {
  const config = JSON.parse(await readFile(file, 'utf8')) as { base_model_name_or_path?: string };
  const { base_model_name_or_path: base = '' } = config;
  const shown = isAbsolute(base) ? basename(base) : base;
  return `${JSON.stringify({ ...config, base_model_name_or_path: shown }, null, 2)}\n`;
}
