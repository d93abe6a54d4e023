/** recordTools: writes down every call that tools answer, for {@link replayTools} to answer again without them. */
import { appendFile, writeFile } from 'node:fs/promises';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import { noContent, type Tool, type ToolContext, type ToolResult } from '../protocol/tool.ts';
import { canonical } from './canonical-json.ts';
import { createRedactor, type RedactionRules } from './redact.ts';
import { faceOf, type RecordedCall, type RecordingHeader, Takes } from './tool-recording.ts';

export interface RecordOptions {
  /** What to take out beside secret names, bearer tokens and environment variables. */
  redact?: RedactionRules;
}

/**
 * The tools, recording into a new `file`; a call returns when its line is written. The file has what the tools were asked
 * and what they answered, whole, without secrets; the episode itself gets the answers as they are.
 *
 * Episodes may run concurrently if their ids differ, as a rollout's do.
 * @throws ToolEnvError `usage.recording_exists` if there is a file already.
 */
export async function recordTools(
  tools: readonly Tool[],
  file: string,
  { redact: rules = {} }: RecordOptions = {},
): Promise<Tool[]> {
  const redact = createRedactor(rules);
  // A schema may well have a property named "token"; only secrets known by value are taken out of it.
  const redactFace = createRedactor({ ...rules, keys: /(?!)/ });
  const header: RecordingHeader = { recording: 'tools', version: 1, tools: tools.map(faceOf) };
  await create(file, `${JSON.stringify(redactFace(header))}\n`);

  const takes = new Takes();
  // One after another, and none after one that failed, so that only the last line can be half-written.
  let written = Promise.resolve();
  const write = (call: RecordedCall) => {
    const line = `${JSON.stringify(redact(call))}\n`;
    written = written.then(() => appendFile(file, line));
    return written;
  };

  return tools.map((tool) => ({
    ...faceOf(tool),
    async execute(args, context) {
      const key = takes.next(context);
      // Before the tool gets them, which might change them.
      const asked = { ...key, tool: tool.name, arguments: canonical(args) };
      const answer = await settle(tool, args, context);
      await write({ ...asked, ...recorded(answer) });
      if ('result' in answer) return answer.result;
      throw answer.thrown;
    },
    async close() {
      await tool.close?.();
      await written;
    },
  }));
}

type Answer = { result: ToolResult } | { thrown: unknown; abandoned: boolean };

/** The end of a call: the tool's, or that of its caller's patience. */
async function settle(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<Answer> {
  const { signal } = context;
  let stop = () => {};
  const abandoned = new Promise<Answer>((resolve) => {
    stop = () => resolve({ thrown: signal.reason, abandoned: true });
    signal.addEventListener('abort', stop, { once: true });
  });
  const answered = (async () => tool.execute(args, context))().then(
    (result): Answer => ({ result }),
    (thrown: unknown): Answer => ({ thrown, abandoned: signal.aborted }),
  );
  try {
    return await Promise.race([answered, abandoned]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function recorded(answer: Answer): Pick<RecordedCall, 'result' | 'error' | 'abandoned'> {
  if ('result' in answer) {
    const { result } = answer;
    return Array.isArray(result?.content) ? { result } : { error: { message: noContent } };
  }
  // A time limit of the environment is a cause that replays; what else a caller may have had is not the tool's.
  if (ToolEnvError.isInstance(answer.thrown)) {
    return { error: { code: answer.thrown.code, message: answer.thrown.message } };
  }
  return answer.abandoned ? { abandoned: true } : { error: { message: messageOf(answer.thrown) } };
}

async function create(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const message = `${file} is there already: record into another file, or remove it.`;
    throw new ToolEnvError('usage.recording_exists', message, { cause: error });
  }
}
