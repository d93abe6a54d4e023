/** The files of a split of a dataset of the Hugging Face Hub, as the names of its files say. */
import { extname, join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { HubFile } from '@toolenv/hub';

/** What is read of a dataset of the Hub. */
export interface HubSplit {
  /** Default `train`. */
  readonly split?: string;
  /** The configuration, such as `main`: a folder of the repository. Default: the only one, or `default`. */
  readonly config?: string;
  /** A file of the repository, where the names of its files do not say their splits. */
  readonly file?: string;
}

/** Names of the usual splits, as the Python library `datasets` reads them in the names of files and folders. */
const usual: Readonly<Record<string, readonly string[]>> = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'val', 'dev'],
  test: ['test', 'testing', 'eval', 'evaluation'],
};

/** Files about a dataset. */
const about = /(^|\/)(\.[^/]*|dataset_infos|dataset_dict|dataset_info|state|metadata)(\.[^/]*)?$/;

/**
 * The files of a split, in order of their names.
 * @param name `hf:owner/name`, or `hf:owner/name@revision`.
 * @param formats Endings of files that can be read, the preferred one last.
 * @throws ToolEnvError `usage.dataset` for a text that does not name a dataset, and for a split that does not exist; and what `fetchFiles` of @toolenv/hub throws.
 */
export async function fetchSplit(
  name: string,
  wanted: HubSplit,
  formats: readonly string[],
): Promise<string[]> {
  const { fetchFiles, parseHubName } = await import('@toolenv/hub');
  const asked = parseHubName(name);
  if (!asked) {
    const message = `${name} does not name a dataset of the Hugging Face Hub: write hf:<owner>/<name>, such as hf:openai/gsm8k.`;
    throw new ToolEnvError('usage.dataset', message);
  }
  const choose = (files: readonly HubFile[]) => chooseFiles(asked.name, files, wanted, formats);
  const { folder, files } = await fetchFiles({ type: 'dataset', ...asked, choose });
  return files.map(({ path }) => join(folder, path));
}

function chooseFiles(
  name: string,
  files: readonly HubFile[],
  { split = 'train', config, file }: HubSplit,
  formats: readonly string[],
): HubFile[] {
  const refusal = (problem: string) => new ToolEnvError('usage.dataset', `hf:${name} has ${problem}.`);
  if (file !== undefined) {
    const found = files.filter(({ path }) => path === file);
    if (found.length === 0) throw refusal(`no file ${file}: give the path of a file in the repository`);
    return found;
  }
  const rows = files.flatMap((each) => {
    const format = extname(each.path.replace(/\.gz$/i, '')).toLowerCase();
    if (!formats.includes(format) || about.test(each.path)) return [];
    return [{ file: each, format, split: splitOf(each.path), config: configOf(each.path) }];
  });
  const isNamed = rows.some((row) => row.split !== undefined);
  // Files that name no split are for training.
  const ofSplit = rows.filter((row) => (isNamed ? row.split : 'train') === split);
  if (ofSplit.length === 0) {
    const known = list(isNamed ? rows.map((row) => row.split) : rows.length > 0 ? ['train'] : []);
    const remedy = known === '' ? 'name one with the option file' : `its splits are ${known}`;
    throw refusal(`no split ${split} that can be read: ${remedy}`);
  }
  const configs = new Set(ofSplit.map((row) => row.config));
  const chosen = config ?? (configs.size === 1 ? [...configs][0] : 'default');
  const ofConfig = ofSplit.filter((row) => row.config === chosen);
  if (ofConfig.length === 0)
    throw refusal(`the configurations ${list([...configs])}: name one with the option config`);
  // Some repositories have the same rows in several formats.
  const format = [...formats].reverse().find((each) => ofConfig.some((row) => row.format === each));
  return ofConfig
    .filter((row) => row.format === format)
    .map((row) => row.file)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** `undefined` if the path names none. */
function splitOf(path: string): string | undefined {
  const shard = /(?:^|\/)(\w[\w.]*)-\d{5}-of-\d{5}\./.exec(path)?.[1];
  const names = (shard ?? path.replace(/(\.\w+)+$/, '')).split('/').reverse();
  for (const name of names) {
    for (const [split, words] of Object.entries(usual))
      if (words.some((word) => new RegExp(`(^|[-._ ])${word}([-._ 0-9]|$)`, 'i').test(name)))
        return shard !== undefined && !words.includes(shard) ? shard : split;
  }
  return shard;
}

/** The first folder that does not name a split; `default` if there is none. */
function configOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  return folders.find((folder) => folder !== 'data' && splitOf(`${folder}/`) === undefined) ?? 'default';
}

function list(names: readonly (string | undefined)[]): string {
  return [...new Set(names)].sort().slice(0, 20).join(', ');
}
