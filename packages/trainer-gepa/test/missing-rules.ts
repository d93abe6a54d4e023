/**
 * Three environments whose instructions lack a rule, a model that obeys the rules that it reads, and a policy that reflects on what it
 * reads: messages of tools, feedback, and what episodes with high scores have done that others have not.
 */
import {
  type Action,
  createRng,
  defineTool,
  defineToolEnv,
  type EnvDefinition,
  type Message,
  type Policy,
  type Rng,
  text,
} from '@toolenv/core';

const tasksOf = (count: number) => Array.from({ length: count }, (_, day) => ({ day: 1 + day }));
const splits = { train: tasksOf(28), validation: tasksOf(6), test: tasksOf(6) };

/** A tool that takes dates in one form only, and says so. */
const book = defineTool({
  name: 'book',
  description: 'Books a table.',
  inputSchema: { type: 'object', properties: { date: { type: 'string' } }, required: ['date'] },
  async execute({ date }) {
    if (/^\d{4}-\d\d-\d\d$/.test(date)) return text('booked');
    return {
      isError: true,
      content: [{ type: 'text', text: `date: expected YYYY-MM-DD, received ${date}` }],
    };
  },
});

/** The rule is in an error of a tool. */
export const dates: EnvDefinition<{ day: number }> = defineToolEnv({
  name: 'dates-v1',
  description: 'Book a table on a day of May.',
  prompts: { system: 'You book tables.', hints: '' },
  limits: { maxTurns: 2 },
  tasks: splits,
  rewards: {
    booked: {
      kind: 'outcome',
      score: ({ calls }) => Number(calls.some(({ text: said }) => said === 'booked')),
    },
  },
  episode: ({ task, prompt }) => ({
    messages: opening(prompt('system'), prompt('hints'), `Book a table on ${task.day} May 2026.`),
    tools: [book],
  }),
});

/** The rule is in the feedback of the environment. */
export const units: EnvDefinition<{ day: number }> = defineToolEnv({
  name: 'units-v1',
  description: 'Convert a length.',
  prompts: { system: 'You convert lengths.' },
  tasks: splits,
  rewards: { right: { kind: 'outcome' } },
  episode: ({ task, prompt }) => ({
    messages: opening(prompt('system'), '', `How much are ${task.day * 100} cm?`),
    onAnswer: (answer) => ({
      rewards: { right: Number(answer === `${task.day} m`) },
      info: answer.endsWith(' m') ? {} : { feedback: 'The answer has no unit: expected "<number> m".' },
      end: 'answered',
    }),
  }),
});

const nothing = { type: 'object', properties: {} } as const;
const check = defineTool({
  name: 'check',
  description: 'Checks a form.',
  inputSchema: nothing,
  execute: async () => text('ok'),
});
const submit = defineTool({
  name: 'submit',
  description: 'Submits a form.',
  inputSchema: nothing,
  execute: async () => text('ok'),
});

/** Nothing says the rule. Only the scores of episodes that differ show it. */
export const order: EnvDefinition<{ day: number }> = defineToolEnv({
  name: 'order-v1',
  description: 'Submit a form that was checked.',
  prompts: { system: 'You submit forms.' },
  limits: { maxTurns: 4 },
  tasks: splits,
  rewards: {
    accepted: {
      kind: 'outcome',
      score: ({ calls }) => Number(namesOf(calls).join() === 'check,submit'),
    },
  },
  episode: ({ task, prompt }) => ({
    messages: opening(prompt('system'), '', `Form ${task.day}.`),
    tools: [check, submit],
  }),
});

export const environments: readonly EnvDefinition<{ day: number }>[] = [dates, units, order];

function namesOf(calls: readonly { call: object }[]): string[] {
  return calls.map(({ call }) => ('name' in call ? String(call.name) : ''));
}

function opening(system: string, hints: string, user: string): Message[] {
  return [
    { role: 'system', content: hints === '' ? system : `${system}\n${hints}` },
    { role: 'user', content: user },
  ];
}

/** Follows the rules of its instructions, and does otherwise as chance has it. */
export const obedient: Policy = {
  spec: { name: 'obedient', contextLength: 100_000 },
  async act({ messages, tools }, { seed, signal }) {
    signal?.throwIfAborted();
    const rules = messages[0]!.content;
    const asked = messages[1]!.content;
    const done = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name }) => name) : [],
    );
    const names = tools.map(({ name }) => name);
    if (names.includes('book'))
      return done.length > 0 ? say('Done.') : call('book', { date: dateOf(rules, asked) });
    if (names.includes('submit')) return submitForm(rules, done, createRng(seed, 'obedient'));
    const metres = Number(/(\d+) cm/.exec(asked)![1]) / 100;
    return say(/with a unit: "<number> m"/.test(rules) ? `${metres} m` : String(metres));
  },
};

function dateOf(rules: string, asked: string): string {
  const day = /on (\d+) May/.exec(asked)![1]!;
  return /Write date as YYYY-MM-DD/.test(rules) ? `2026-05-${day.padStart(2, '0')}` : `${day} May 2026`;
}

function submitForm(rules: string, done: readonly string[], rng: Rng): Action {
  if (done.includes('submit')) return say('Done.');
  const isTold = /Call check before submit/.test(rules);
  if (!done.includes('check') && (isTold || rng.float() < 0.3)) return call('check', {});
  return call('submit', {});
}

function say(answer: string): Action {
  return { text: answer, toolCalls: [], stopReason: 'stop' };
}

function call(name: string, args: Record<string, unknown>): Action {
  return { text: '', toolCalls: [{ id: name, name, arguments: args }], stopReason: 'stop' };
}

/**
 * Proposes a rule that the material supports, or, as models do, a rule of no use. It knows nothing of the environments.
 * @param useless The share of its proposals that are of no use.
 */
export function reflecting({ useless = 0.3 }: { useless?: number } = {}): Policy & { requests: number } {
  return {
    spec: { name: 'reflecting', contextLength: 100_000 },
    requests: 0,
    async act({ messages }, { seed }) {
      this.requests += 1;
      const material = messages[1]!.content;
      const rng = createRng(seed, 'reflecting');
      const supported = rulesOf(material);
      const isUseless = supported.length === 0 || rng.float() < useless;
      const rule = isUseless ? rng.pick(['Be careful.', 'Think first.', 'Be brief.']) : rng.pick(supported);
      return say(`The episodes suggest a rule.\n\`\`\`\n${oldText(material)}\n${rule}\n\`\`\``);
    },
  };
}

function oldText(material: string): string {
  return /to be improved>>>\n([\s\S]*?)\n?<<<end/.exec(material)![1]!;
}

function rulesOf(material: string): string[] {
  const rules: string[] = [];
  const told = /(\w+): expected (\S+), received/.exec(material);
  if (told) rules.push(`Write ${told[1]} as ${told[2]}.`);
  const feedback = /feedback: The answer has no unit: expected ("[^"]+")/.exec(material);
  if (feedback) rules.push(`Answer with a unit: ${feedback[1]}.`);

  const episodes = [
    ...material.matchAll(/<<<\w+ episode \d+ of \d+, score (\S+)[^>]*>>>\n([\s\S]*?)<<<end/g),
  ];
  const calls = (body: string) => [...body.matchAll(/^calls (\w+)\(/gm)].map(([, name]) => name!);
  const good = episodes.filter(([, score]) => Number(score) > 0).map(([, , body]) => calls(body!));
  const bad = episodes.filter(([, score]) => Number(score) === 0).map(([, , body]) => calls(body!));
  // What every good episode has done, and no bad one.
  for (const [first, second] of good.map((own) => own.slice(0, 2))) {
    const has = (own: string[]) => own[0] === first && own[1] === second;
    if (second && good.every(has) && !bad.some(has)) rules.push(`Call ${first} before ${second}.`);
  }
  return [...new Set(rules)];
}
