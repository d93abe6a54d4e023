/** Addresses of models: `<url>#<model>`, as `http://127.0.0.1:8000/v1#Qwen/Qwen3-0.6B`. */
import { ToolEnvError } from '@toolenv/core';

export interface Address {
  /** Where `/chat/completions` is added, without a slash at its end. */
  url: string;
  /** Absent if the address leaves the choice to the server. */
  model?: string;
}

/** @throws ToolEnvError `usage.model_address`. */
export function parseAddress(address: string): Address {
  const hash = address.indexOf('#');
  const text = hash < 0 ? address : address.slice(0, hash);
  const model = hash < 0 ? '' : address.slice(hash + 1);
  const url = tryUrl(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    const message = `"${address}" is not the address of a model: write openai:<url>#<model>, for example openai:http://127.0.0.1:8000/v1#Qwen/Qwen3-0.6B.`;
    throw new ToolEnvError('usage.model_address', message);
  }
  if (url.username !== '' || url.password !== '') {
    const message = 'The address of a model has a password: name the variable of a key with --api-key.';
    throw new ToolEnvError('usage.model_address', message);
  }
  return { url: text.replace(/\/+$/, ''), ...(model !== '' && { model }) };
}

function tryUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
