/** An environment whose twentieth call leaves an error that nobody catches, in a timer or as a rejection. */
import { defineTool, defineToolEnv } from '@toolenv/core';

let calls = 0;

const press = defineTool('press', 'Press the switch.', {}, () => {
  calls += 1;
  if (calls === 20) leaveError(new Error('left behind'));
  return 'click';
});

function leaveError(error: Error): void {
  if (process.env.CARELESS === 'timer') {
    setTimeout(() => {
      throw error;
    }, 5);
  } else {
    setTimeout(() => void Promise.reject(error), 5);
  }
}

const tasks = Array.from({ length: 30 }, () => ({}));

export default defineToolEnv({
  name: 'careless-v1',
  description: 'Press a switch.',
  rewards: { em: { kind: 'outcome' } },
  tasks: { train: tasks, validation: tasks, test: tasks },
  episode: () => ({
    messages: 'Press 2 times.',
    tools: [press],
    onAnswer: () => ({ rewards: { em: 1 }, end: 'answered' }),
  }),
});
