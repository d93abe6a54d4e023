/** checkSandbox: checks a provider of sandboxes against the SBX rules of the spec. */
import { type CommandResult, messageOf, type Sandbox, ToolEnvError } from '@toolenv/core';
import { completeOptions, type SandboxHost, type SandboxProvider } from '@toolenv/core/plugins';
import { answered, withTimeout } from './in-time.ts';
import { leaksOf } from './leaks.ts';
import { checkOptionsSchema } from './options-schema.ts';
import { type CheckOptions, type Report, Reporter } from './report.ts';
import type { RuleId } from './rules.ts';
import { brief, Violation } from './violation.ts';

export interface CheckSandboxOptions<Options = Record<string, unknown>> extends CheckOptions {
  /** Options of the provider. */
  options?: Partial<Options>;
  /** Milliseconds that a sandbox may take to begin, and a short command to end. Default 60,000. */
  timeout?: number;
}

/** The rules that need a sandbox. */
const running: readonly RuleId[] = ['SBX-2', 'SBX-3', 'SBX-4', 'SBX-5', 'SBX-6', 'SBX-7', 'SBX-8'];

/** Variables that a shell may have with the values of this process. */
const shellVariables = new Set([
  'HOME',
  'LANG',
  'LC_ALL',
  'PATH',
  'PWD',
  'OLDPWD',
  'SHELL',
  'SHLVL',
  'TERM',
  '_',
]);

/** Milliseconds in which a command that was stopped must have its result. */
const grace = 10_000;

/**
 * Runs some ten commands in two sandboxes, and reports the rules that the provider breaks. Where the provider says that no sandbox can be
 * made on this machine, the rules that need one are skipped with its reason.
 */
export async function checkSandbox<Options>(
  provider: SandboxProvider<Options>,
  { options = {}, timeout = 60_000, ...rest }: CheckSandboxOptions<Options> = {},
): Promise<Report> {
  const report = new Reporter(provider.name, 'SBX', rest);
  await report.check(['SBX-1'], () => checkOptionsSchema('SBX-1', provider.options));
  if (report.broken('SBX-1')) return report.report;
  const complete = completeOptions(provider.options, options, provider.name) as Options;
  const { problem } = await answered('SBX-1', 'a report of inspect()', timeout, () =>
    provider.inspect(complete),
  );
  if (problem !== undefined) {
    report.skip(running, problem);
    return report.report;
  }
  let host: SandboxHost | undefined;
  let left: string[] = [];
  const work = async () => {
    host = await provider.open(complete);
    try {
      await checkHost(host, report, timeout);
    } finally {
      await host.close();
    }
  };
  // Opened once before, because the first use may open what lasts as long as the process.
  await (await provider.open(complete)).close();
  left = await leaksOf(work);
  await report.check(['SBX-8'], () => {
    if (left.length > 0) throw new Violation('SBX-8', 'no timer or handle after close()', left.join(', '));
  });
  return report.report;
}

async function checkHost(host: SandboxHost, report: Reporter, timeout: number): Promise<void> {
  const made = () => answered('SBX-2', 'a sandbox', timeout, () => host.sandbox());
  const [sandbox, other] = [await made(), await made()];
  const run = (rule: RuleId, command: string, options: Parameters<Sandbox['run']>[1] = {}) => {
    const within = (options.timeout ?? timeout) + grace;
    return answered(rule, `a result of ${command}`, within, () => sandbox.run(command, options));
  };
  await report.check(['SBX-2'], async () => {
    const usual = { truncated: false, timedOut: false, outOfMemory: false };
    const failing = await run('SBX-2', 'cat; echo error >&2; exit 3', { stdin: 'given\n' });
    expectResult('SBX-2', failing, { stdout: 'given\n', stderr: 'error\n', exitCode: 3, ...usual });
    expectResult('SBX-2', await run('SBX-2', 'echo again'), { stdout: 'again\n', exitCode: 0, ...usual });
  });
  await report.check(['SBX-3'], async () => {
    await run('SBX-3', 'mkdir -p sub; echo kept > sub/file; cd sub; export KEPT="a b"');
    const next = await run('SBX-3', 'cat file; echo "$KEPT $GIVEN"', { env: { GIVEN: "it's" } });
    expectResult('SBX-3', next, { stdout: "kept\na b it's\n" });
  });
  await report.check(['SBX-4'], async () => {
    const late = await run('SBX-4', 'while true; do :; done', { timeout: 500 });
    expectResult('SBX-4', late, { timedOut: true, exitCode: 124 });
    expectResult('SBX-4', await run('SBX-4', 'echo on'), { stdout: 'on\n' });
  });
  await report.check(['SBX-5'], async () => {
    const long = await run('SBX-5', 'seq 1 5000', { limits: { output: 1000 } });
    expectResult('SBX-5', long, { truncated: true });
    const { length } = long.stdout;
    if (length > 1000 || length < 900)
      throw new Violation('SBX-5', 'the first 1000 bytes of stdout', `${length}`);
  });
  await report.check(['SBX-6'], () => checkFiles(sandbox));
  await report.check(['SBX-7'], async () => {
    await sandbox.write('/tmp/secret', 'secret');
    await refused('SBX-7', 'a file of another sandbox', () => other.read('/tmp/secret'));
    const { stdout } = await run('SBX-7', 'env');
    const own = Object.entries(process.env).filter(([name]) => !shellVariables.has(name));
    const seen = own.find(([name, value]) => value && stdout.split('\n').includes(`${name}=${value}`));
    if (seen) throw new Violation('SBX-7', 'no variable of this process', seen[0]);
  });
  await report.check(['SBX-8'], async () => {
    await withTimeout('SBX-8', 'close() to settle', timeout, () => sandbox.close());
    await withTimeout('SBX-8', 'close() to settle again', timeout, () => sandbox.close());
    const result = sandbox.run('echo on').then(brief, (error: unknown) => error);
    const error = await withTimeout('SBX-8', 'run() after close() to settle', timeout, () => result);
    if (ToolEnvError.isInstance(error) && error.code.startsWith('infrastructure.')) return;
    throw new Violation('SBX-8', 'an infrastructure error of run() after close()', brief(error));
  });
}

async function checkFiles(sandbox: Sandbox): Promise<void> {
  const bytes = Uint8Array.from({ length: 1000 }, (_, index) => (index * 7) % 256);
  await sandbox.write('files/data', bytes);
  const read = await sandbox.read('files/data');
  if (Buffer.compare(bytes, read) !== 0)
    throw new Violation('SBX-6', 'the bytes that were written', `${read.length} other bytes`);
  const listed = JSON.stringify(await sandbox.list('files'));
  const entries = JSON.stringify([{ name: 'data', type: 'file', size: 1000 }]);
  if (listed !== entries) throw new Violation('SBX-6', entries, listed);
  await refused('SBX-6', 'read() of a folder', () => sandbox.read('files'));
  await refused('SBX-6', 'read() without a file', () => sandbox.read('no-such-file'));
  await refused('SBX-6', 'list() of a file', () => sandbox.list('files/data'));
}

async function refused(rule: RuleId, what: string, call: () => Promise<unknown>): Promise<void> {
  const error = await call().then(
    (value) => `${brief(value)}`,
    (error: unknown) => error,
  );
  if (ToolEnvError.isInstance(error) && error.code === 'usage.sandbox_file') return;
  const received = typeof error === 'string' ? error : messageOf(error);
  throw new Violation(rule, `usage.sandbox_file for ${what}`, received);
}

function expectResult(rule: RuleId, result: CommandResult, expected: Partial<CommandResult>): void {
  for (const [name, value] of Object.entries(expected)) {
    const received = result[name as keyof CommandResult];
    if (received !== value) throw new Violation(rule, `${name} ${brief(value)}`, brief(received));
  }
}
