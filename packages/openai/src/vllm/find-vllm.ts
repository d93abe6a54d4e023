/** findVllm: a Python with vLLM that is on the machine already. */
import { ToolEnvError } from '@toolenv/core';
import { knownPythons, type PythonPackage, pythonPackages } from '@toolenv/core/plugins';

/**
 * In the Python that TOOLENV_VLLM names, or in the first of `knownPythons`.
 * @throws ToolEnvError `usage.vllm_missing` if there is none.
 */
export function findVllm(): PythonPackage {
  const { TOOLENV_VLLM: named } = process.env;
  const pythons = named ? [{ python: named, source: 'TOOLENV_VLLM' }] : knownPythons();
  const [found] = pythonPackages('vllm', pythons);
  if (found) return found;
  const tried = pythons.map(({ python }) => python).join(', ');
  const message = `No Python with vLLM was found (looked in ${tried}): pip install vllm, set TOOLENV_VLLM to a Python that has it, or give --sampler-url.`;
  throw new ToolEnvError('usage.vllm_missing', message);
}
