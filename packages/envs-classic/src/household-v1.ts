/** `household-v1`: find things in a house and put them in order, by text commands, like ALFWorld (arXiv 2010.03768). */
import { createRng, defineToolEnv, type Message } from '@toolenv/core';
import { generatedTasks } from './generated-tasks.ts';
import { describeGoal, type Goal, goals, progress } from './household/goal.ts';
import { drawHouse, type House, isClosable, kindOf, treatments } from './household/house.ts';
import { help, World } from './household/world.ts';

const system = `You are in a house. The last line of each of your turns is a command:
${help}
You can carry one object at a time.`;

export default defineToolEnv({
  name: 'household-v1',
  description: 'Find things in a house and put them in order, by text commands. Episodes are long.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 1000, description: 'number of training tasks' },
      keptTurns: {
        type: 'integer',
        minimum: 1,
        default: 4,
        description:
          'number of last turns in the observation; a summary of what was seen replaces older turns',
      },
    },
  },
  prompts: { system },
  limits: { maxTurns: 30 },
  tasks({ options, seed }) {
    // No goal belongs to two splits.
    const shuffled = createRng(seed, 'household', 'goals').shuffle(goals);
    const [tenth, fifth] = [Math.floor(goals.length / 10), Math.floor(goals.length / 5)];
    const own = {
      train: shuffled.slice(tenth + fifth),
      validation: shuffled.slice(0, tenth),
      test: shuffled.slice(tenth, tenth + fifth),
    };
    return generatedTasks(options.tasks, (split, index): { goal: Goal; house: House } => {
      const rng = createRng(seed, 'household', split, index);
      const goal = rng.pick(own[split]);
      const { object: kind, target: except } = goal;
      return { goal, house: drawHouse(rng, { kind, count: goal.count + rng.int(2), except }) };
    });
  },
  rewards: {
    /** The goal is reached. */
    done: { kind: 'outcome' },
    /** The share of the sub-goals that the turn achieves for the first time: found, treated, placed. */
    subgoals: { kind: 'process', weight: 0.1 },
  },
  episode({ prompt, task: { goal, house }, options: { keptTurns } }) {
    const world = new World(house);
    const opening = `${world.act('look')}\nYour task: ${describeGoal(goal)}.`;
    const messages = [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: opening },
    ] as const;
    let best = progress(goal, world);
    return {
      messages,
      onAnswer(text, { conversation }) {
        const reply = world.act(lastLine(text));
        const reached = progress(goal, world);
        const rewards = { subgoals: Math.max(0, reached - best) };
        best = Math.max(best, reached);
        if (reached === 1) return { reply, rewards: { ...rewards, done: 1 }, end: 'done' };
        const kept = lastTurns(conversation, keptTurns);
        if (kept.length === conversation.length - messages.length) return { reply, rewards };
        const reminder = { role: 'user', content: `${opening}\n\n${world.summary()}` } as const;
        return { rewrite: [messages[0], reminder, ...kept], reply, rewards };
      },
    };
  },
  oracle: ({ goal, house }) => solution(house, goal),
  /** An object to find: no text names it before it is seen. */
  label: ({ goal, house }) => Object.keys(house.objects).find((name) => kindOf(name) === goal.object),
});

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!.replace(/^\s*>/, '');
}

/** The last `count` turns, each an assistant's message and what follows it. */
function lastTurns(conversation: readonly Message[], count: number): readonly Message[] {
  const starts = conversation.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  return conversation.slice(starts.at(-count) ?? starts[0]);
}

/** The commands that reach a goal, for an agent that knows where everything is. */
export function solution(
  { receptacles, objects }: House,
  { object, count, treatment, target }: Goal,
): string[] {
  const reach = (place: string) => [`go to ${place}`, ...(isClosable(place) ? [`open ${place}`] : [])];
  const appliance = treatment && `${treatments[treatment].appliance} 1`;
  const goal = receptacles.find((name) => kindOf(name) === target)!;
  return Object.entries(objects)
    .filter(([name]) => kindOf(name) === object)
    .slice(0, count)
    .flatMap(([name, place]) => [
      ...reach(place),
      `take ${name} from ${place}`,
      ...(appliance ? [`go to ${appliance}`, `${treatment} ${name} with ${appliance}`] : []),
      ...reach(goal),
      `put ${name} in/on ${goal}`,
    ]);
}
