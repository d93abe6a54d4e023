/** fetchModel: a model of the Hub as a checkpoint folder, with the files that toolenv reads and no others. */
import { ToolEnvError } from '@toolenv/core';
import { type Fetched, fetchFiles, type Wanted } from './fetch-files.ts';
import { parseHubName } from './hub-name.ts';
import type { HubFile } from './listing.ts';

/** Which files: those of the tokenizer, or the weights too. */
export type ModelParts = 'all' | 'tokenizer';

const needed = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];
const optional = ['generation_config.json', 'chat_template.jinja'];
const wholeWeights = 'model.safetensors';
const shard = /^model-\d+-of-\d+\.safetensors$/;
const adapterConfig = 'adapter_config.json';
const adapterWeights = 'adapter_model.safetensors';
const indexOfShards = 'model.safetensors.index.json';

/**
 * @param text `owner/name` or `owner/name@revision`, with or without `hf:` before it.
 * @param options.revision The revision if the name has none. Default `main`.
 * @param options.plan Is given a folder with config.json, before the other files come.
 * @returns `undefined` for a text that is not a name of the Hub.
 * @throws What {@link fetchFiles} throws; ToolEnvError `usage.checkpoint_unsupported` if the repository has no such model.
 */
export async function fetchModel(
  text: string,
  options: Pick<Wanted, 'revision' | 'plan' | 'signal'> & { parts?: ModelParts } = {},
): Promise<(Fetched & { name: string }) | undefined> {
  const asked = parseHubName(text);
  if (!asked) return undefined;
  const { name, revision = options.revision } = asked;
  const { parts = 'all', plan, signal } = options;
  const choose = (files: readonly HubFile[]) => modelFiles(name, files, parts);
  return { name, ...(await fetchFiles({ type: 'model', name, revision, choose, plan, signal })) };
}

/** The configuration first, and the weights last. */
function modelFiles(name: string, listed: readonly HubFile[], parts: ModelParts): HubFile[] {
  const files = new Map(listed.map((file) => [file.path, file]));
  const lacks = (what: string, remedy: string) => {
    const message = `${name} has no ${what}, which a policy needs: ${remedy}.`;
    return new ToolEnvError('usage.checkpoint_unsupported', message);
  };
  const shards = [...files.keys()].filter((path) => shard.test(path)).sort();
  const whole = files.has(wholeWeights)
    ? [wholeWeights]
    : files.has(indexOfShards) && shards.length > 0
      ? [indexOfShards, ...shards]
      : [];
  const isAdapter = whole.length === 0 && files.has(adapterConfig);
  const weights = isAdapter ? [adapterWeights] : whole;
  // What an adapter's repository lacks is its base model's.
  const small = isAdapter ? [adapterConfig, ...needed, ...optional] : [...needed, ...optional];
  const missing = isAdapter ? undefined : needed.find((path) => !files.has(path));
  if (missing) throw lacks(missing, 'name a repository in the format of transformers, with its tokenizer');
  if (parts === 'all' && isAdapter && !files.has(adapterWeights))
    throw lacks(adapterWeights, 'name a repository whose adapter is stored as safetensors');
  if (parts === 'all' && weights.length === 0)
    throw lacks(wholeWeights, 'name the repository that GGUF or other files were made from');
  const wanted = [...small, ...(parts === 'all' ? weights : [])];
  return wanted.flatMap((path) => files.get(path) ?? []);
}
