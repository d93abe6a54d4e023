/**
 * A customer with a wish that only the customer knows, in the manner of τ-bench (arXiv 2406.12045): the policy has to ask, use the
 * shop's tools, and keep to its rule. The orders at the end decide the reward.
 *
 *     npx toolenv eval ./hidden-wish.ts --policy my-policy
 *     npx toolenv eval ./hidden-wish.ts --policy my-policy --customer openai:http://127.0.0.1:8000/v1#qwen3
 */
import { isDeepStrictEqual } from 'node:util';
import { createRng, defineTool, defineToolEnv, failure } from '@toolenv/core';

const colours = ['red', 'green', 'blue', 'black'] as const;
type Colour = (typeof colours)[number];

type Status = 'open' | 'shipped' | 'cancelled' | 'with a colleague';

/** An order by number. */
type Orders = Record<string, { item: string; colour: Colour; status: Status }>;

interface Wish {
  orders: Orders;
  order: string;
  /** The colour that the customer wants, or the end of the order. */
  wants: Colour | 'cancelled';
}

function drawWish(seed: number, split: string, index: number): Wish {
  const rng = createRng(seed, split, index);
  const orders = Object.fromEntries(
    ['lamp', 'chair', 'kettle'].map((item, n) => {
      const colour = colours[rng.int(colours.length)]!;
      return [String(10 * (n + 1) + rng.int(10)), { item, colour, status: rng.int(3) ? 'open' : 'shipped' }];
    }),
  ) as Orders;
  const order = Object.keys(orders)[rng.int(3)]!;
  const others = colours.filter((colour) => colour !== orders[order]!.colour);
  return { orders, order, wants: rng.int(4) ? others[rng.int(others.length)]! : 'cancelled' };
}

/** The call that the shop's rule allows. */
function rightCall({ orders, order, wants }: Wish) {
  if (orders[order]!.status === 'shipped') return { name: 'hand_over', arguments: { order } };
  if (wants === 'cancelled') return { name: 'cancel', arguments: { order } };
  return { name: 'change', arguments: { order, colour: wants } };
}

/** The orders after that call. */
function granted(wish: Wish): Orders {
  const { orders, order, wants } = wish;
  const changes: Record<string, object> = {
    hand_over: { status: 'with a colleague' },
    cancel: { status: 'cancelled' },
    change: { colour: wants },
  };
  return { ...orders, [order]: { ...orders[order]!, ...changes[rightCall(wish).name] } };
}

const wishText = ({ wants }: Wish) =>
  wants === 'cancelled' ? 'Please cancel it.' : `I want it in ${wants}.`;
const goodbye = 'GOODBYE';

export default defineToolEnv({
  name: 'hidden-wish-v1',
  description: 'Serve a customer whose wish comes out in conversation.',
  tasks: ({ seed }) => ({
    train: { length: 1000, get: (index) => drawWish(seed, 'train', index) },
    test: { length: 100, get: (index) => drawWish(seed, 'test', index) },
  }),
  state: ({ task }) => structuredClone(task.orders),
  players: {
    customer: {
      description: 'the customer',
      play: 'plain',
      scripts: {
        /** Tells one fact at a time, whatever it is asked. */
        plain: ({ task }, { messages }) =>
          [`It is about order ${task.order}.`, wishText(task)][(messages.length - 3) / 2] ?? goodbye,
      },
    },
  },
  rewards: {
    served: { kind: 'outcome', score: ({ task, state }) => Number(isDeepStrictEqual(state, granted(task))) },
  },
  episode: ({ task, state: orders, player }) => {
    const customer = player('customer');
    const order = { type: 'string', description: 'number of the order' } as const;
    const find = (number: string, status: Status) => {
      const found = Object.hasOwn(orders, number) ? orders[number] : undefined;
      return found?.status === status ? found : undefined;
    };
    const notOpen = () => failure('There is no open order of this number.');
    return {
      messages: [
        {
          role: 'system',
          content:
            'You serve a shop. Only open orders can be changed or cancelled; hand questions about shipped orders over. Ask for what you need to know.',
        },
        { role: 'user', content: 'I have a question about an order.' },
      ],
      tools: [
        defineTool('look_up', 'Tell what is known of an order.', { order }, (args) =>
          Object.hasOwn(orders, args.order)
            ? JSON.stringify(orders[args.order])
            : failure('There is no such order.'),
        ),
        defineTool(
          'change',
          'Change the colour of an order.',
          { order, colour: { enum: colours } },
          (args) => {
            const found = find(args.order, 'open');
            if (!found) return notOpen();
            found.colour = args.colour;
            return 'Changed.';
          },
        ),
        defineTool('hand_over', 'Hand a shipped order over to a colleague.', { order }, (args) => {
          const found = find(args.order, 'shipped');
          if (!found) return failure('There is no shipped order of this number.');
          found.status = 'with a colleague';
          return 'Handed over.';
        }),
        defineTool('cancel', 'Cancel an order.', { order }, (args) => {
          const found = find(args.order, 'open');
          if (!found) return notOpen();
          found.status = 'cancelled';
          return 'Cancelled.';
        }),
      ],
      async onAnswer(said) {
        const isFirst = customer.conversation.length === 0;
        const { text } = await customer.ask(
          isFirst ? [...castAs(task), { role: 'user', content: said }] : said,
        );
        return text.includes(goodbye) ? { end: 'the customer left' } : text;
      },
    };
  },
  oracle: (task) => ['Which order?', 'What about it?', [rightCall(task)], 'That is all that can be done.'],
});

/** The instructions of a policy that plays the customer. */
function castAs(task: Wish) {
  const content = `You are a customer of a shop. Your order is ${task.order}. Your wish: ${wishText(task)} Tell only what you are asked for. When the shop has finished, say ${goodbye}.`;
  return [
    { role: 'system', content },
    { role: 'assistant', content: 'I have a question about an order.' },
  ] as const;
}
