/** The engines of this machine: what the installed policies report, and the servers of models that a Python has. */
import type { EngineReport } from '@toolenv/core/plugins';
import { pythonPackages } from '@toolenv/core/plugins';
import { alignedRows } from '../display/terminal-text.ts';
import { policyReports } from './doctor-report.ts';

/** Takes some seconds: the policies try everything that is installed. */
export async function engineReport(signal: AbortSignal): Promise<EngineReport[]> {
  const reports = await policyReports(signal);
  const engines = reports.flatMap((report) => {
    if ('why' in report)
      return { engine: report.ref, flags: '', available: false, about: `does not load: ${report.why}` };
    return report.engines ?? [];
  });
  const none = {
    engine: 'ONNX Runtime cpu',
    flags: '',
    available: false,
    about: '@toolenv/policy is not installed',
    remedy: 'npm install @toolenv/policy',
  };
  return [...(engines.length > 0 ? engines : [none]), vllm()];
}

function vllm(): EngineReport {
  const { TOOLENV_VLLM: named } = process.env;
  const [found] = pythonPackages('vllm', named ? [{ python: named, source: 'TOOLENV_VLLM' }] : undefined);
  const engine = { engine: 'vLLM', flags: '--sampler vllm', available: found !== undefined };
  if (found) return { ...engine, about: `${found.version} of ${found.python}: samples beside a learner` };
  const remedy = 'pip install vllm, or set TOOLENV_VLLM to a Python that has it';
  return { ...engine, about: 'no Python has it', remedy };
}

/** A row for each engine, and below it what would make it available. */
export function engineText(engines: readonly EngineReport[]): string {
  const rows = engines.flatMap(({ engine, flags, available, about, remedy }) => [
    [engine, available ? 'available' : 'not available', available && flags ? `${about} (${flags})` : about],
    ...(remedy === undefined ? [] : [['', '', `remedy: ${remedy}`]]),
  ]);
  return alignedRows(rows).join('\n');
}
