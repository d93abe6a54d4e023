/** Attacks on distillation, by the server of a teacher. */

import { readdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { Run } from '@toolenv/core/plugins';
import { openChat } from '@toolenv/policy/chat';
import { BanditModel, openBandit } from '@toolenv/testing';
import { distill } from '@toolenv/trainer-distill';
import { type Attack, holds, within } from './attack.ts';

const tokenizer = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const steps = 4;

interface Row {
  prompt: number[];
  /** Whether the server is asked to score the prompt. */
  echo?: boolean;
}

/** Answers the request number `n` to score a row, from 0. */
type Answer = (row: Row, response: ServerResponse, n: number) => void;

/** A student whose first step is answered well, and what ended its run. */
interface Taught {
  student: BanditModel;
  error: unknown;
  checkpoints: string[];
}

/** Distils two arms from a server of the tiny policy's tokens. */
async function taught(folder: string, answer: Answer, options = ''): Promise<Taught> {
  let scored = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      if (request.method === 'GET') return void response.end('{"data":[{"id":"m"}]}');
      const row: Row = JSON.parse(body);
      if (row.echo) answer(row, response, scored++);
      else sample(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const teacher = `openai:http://127.0.0.1:${port}/v1#m?tokenizer=${tokenizer}&requestRetries=0${options}`;
  const { vocabulary } = (await openChat(tokenizer)).chat;
  const student = Object.assign(new BanditModel(), { vocabulary });
  const run = { env: await openBandit({ best: 1 }), policy: student, learner: student, out: folder, seed: 1 };
  const small = { steps, tasksPerStep: 2, groupSize: 2, learningRate: 0.5, checkpointEvery: 0 };
  try {
    for await (const _ of distill.train(run as Run, { teacher, ...small })) void _;
    throw new Error('the run came to its end');
  } catch (error) {
    return { student, error, checkpoints: await readdir(join(folder, 'checkpoints')).catch(() => []) };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A reply to the questions of the opening. */
function sample(response: ServerResponse): void {
  const top_logprobs = [{ a: -0.7, b: -0.7 }];
  const choice = {
    token_ids: [1],
    logprobs: { token_logprobs: [-0.7], top_logprobs },
    finish_reason: 'length',
  };
  response.end(JSON.stringify({ choices: [choice], usage: {} }));
}

function echo(response: ServerResponse, logprobs: string): void {
  response.end(`{"choices":[{"logprobs":{"token_logprobs":${logprobs}}}],"usage":{}}`);
}

/** The first request, which asks whether the server echoes, and the four rows of the first step are answered well; what follows is the attack. */
const later =
  (attack: Answer): Answer =>
  (row, response, n) =>
    n < 5 ? echo(response, '[null,-0.3]') : attack(row, response, n);

function endsWith({ student, error, checkpoints }: Taught, code: RegExp): void {
  holds(ToolEnvError.isInstance(error), `it threw ${error}`);
  holds(code.test(error.code), `the code was ${error.code}: ${error.message}`);
  holds(error.message.length < 1_000, `the message has ${error.message.length} characters`);
  holds(checkpoints.join() === 'step-1', `the checkpoints are ${checkpoints.join()}`);
  holds(student.weights.every(Number.isFinite), `the weights are ${student.weights}`);
}

export const teachers: Attack[] = [
  {
    name: 'teacher with strange numbers',
    attack: 'the server of a teacher answers with numbers that are no log-probabilities',
    expected: 'the run ends before it learns from them, with the step before in a checkpoint',
    async run(folder) {
      const strange = [
        '[null,1e999]',
        '[null,-1e999]',
        '[null,null]',
        '[null,"-1"]',
        '[null,{}]',
        '[null]',
        '{}',
        'null',
      ];
      for (const [n, logprobs] of strange.entries()) {
        const attacked = await taught(
          join(folder, String(n)),
          later((_, response) => echo(response, logprobs)),
        );
        endsWith(attacked, /model_tokens|model_scores|model_reply/);
      }
    },
  },
  {
    name: 'teacher that answers something else',
    attack: 'the server of a teacher answers with pages, redirects, refusals and closed connections',
    expected: 'the run ends with one error, with the step before in a checkpoint',
    async run(folder) {
      const others: Answer[] = [
        (_, response) => response.end('<html>'),
        (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
        (_, response) => response.writeHead(400).end('{"error":{"message":"\\u001b[2J no"}}'),
        (_, response) => response.writeHead(500).end('x'.repeat(1 << 20)),
        (_, response) => response.destroy(),
      ];
      for (const [n, answer] of others.entries())
        endsWith(await taught(join(folder, String(n)), later(answer)), /^(usage|infrastructure)\.model_/);
    },
  },
  {
    name: 'teacher that never answers',
    attack: 'the server of a teacher takes requests and answers none',
    expected: 'the run ends after the timeout, with the step before in a checkpoint',
    async run(folder) {
      const silent = taught(
        folder,
        later(() => {}),
        '&requestTimeout=500',
      );
      endsWith(await within(10_000, silent), /model_unreachable/);
    },
  },
  {
    name: 'teacher that answers a gigabyte',
    attack: 'the server of a teacher answers with 1 GB of numbers',
    expected: 'the run ends with one error, and the process keeps its memory',
    async run(folder) {
      const before = process.memoryUsage().rss;
      const part = '-1,'.repeat(1 << 18);
      const flood: Answer = (_, response) => {
        response.write('{"choices":[{"logprobs":{"token_logprobs":[');
        let left = 1366;
        const more = () => {
          while (left > 0) {
            left -= 1;
            if (!response.write(part)) return void response.once('drain', more);
          }
          response.end('-1]}}]}');
        };
        more();
      };
      endsWith(await within(60_000, taught(folder, later(flood), '&requests=1')), /model_unreachable/);
      const grown = (process.memoryUsage().rss - before) / 2 ** 20;
      holds(grown < 600, `the process grew by ${grown.toFixed(0)} MB`);
    },
  },
];
