/** World: a house in the course of an episode, and what commands do to it. */
import {
  type House,
  isClosable,
  kindOf,
  objectKinds,
  preposition,
  type Treatment,
  treatments,
} from './house.ts';

export const help = `go to <receptacle>
open <receptacle>
close <receptacle>
take <object> from <receptacle>
put <object> in/on <receptacle>
clean <object> with sinkbasin 1
heat <object> with microwave 1
cool <object> with fridge 1
look
inventory`;

/** The place of an object that is carried. */
const hand = 'hand';

export class World {
  readonly receptacles: readonly string[];
  /** All objects that were ever carried. */
  readonly taken: Set<string> = new Set();
  readonly #places: Map<string, string>;
  readonly #states: Map<string, string> = new Map();
  readonly #open: Set<string> = new Set();
  #here: string | undefined;
  /** The contents of each receptacle, when the agent last saw them. */
  readonly #seen: Map<string, string> = new Map();

  constructor({ receptacles, objects }: House) {
    this.receptacles = receptacles;
    this.#places = new Map(Object.entries(objects));
  }

  get objects(): string[] {
    return [...this.#places.keys()];
  }

  placeOf(object: string): string {
    return this.#places.get(object)!;
  }

  /** `clean`, `hot`, `cold`, or nothing of these. */
  stateOf(object: string): string | undefined {
    return this.#states.get(object);
  }

  /** Carries out a command and says what happens. A command that is impossible changes nothing. */
  act(command: string): string {
    const words = command.toLowerCase().replaceAll(/\s+/g, ' ').trim();
    if (words === 'look') return this.#look();
    if (words === 'inventory') return `You carry ${this.#carried ?? 'nothing'}.`;
    for (const [pattern, act] of this.#commands) {
      const [, first, second = '', third = ''] = pattern.exec(words) ?? [];
      if (first !== undefined) return act(first, second, third);
    }
    const said = words.length > 60 ? `${words.slice(0, 60)}…` : words;
    return `Nothing happens: "${said}" is no command. The last line must be one of these:\n${help}`;
  }

  /** What the agent knows, in place of the turns that it no longer sees. */
  summary(): string {
    const seen = [...this.#seen].map(([receptacle, contents]) => `${receptacle}: ${contents}`);
    const place = this.#here ? `You are at ${this.#here}. ` : '';
    return `${place}You carry ${this.#carried ?? 'nothing'}. You have seen:\n${seen.join('\n') || 'nothing'}`;
  }

  readonly #commands: readonly (readonly [RegExp, (...parts: [string, string, string]) => string])[] = [
    [/^go to (\w+ \d+)$/, (place) => this.#go(place)],
    [/^(open|close) (\w+ \d+)$/, (verb, place) => this.#setOpen(place, verb === 'open')],
    [/^take (\w+ \d+) from (\w+ \d+)$/, (object, place) => this.#take(object, place)],
    [/^put (\w+ \d+) (?:in|on|in\/on) (\w+ \d+)$/, (object, place) => this.#put(object, place)],
    [
      /^(clean|heat|cool) (\w+ \d+) with (\w+ \d+)$/,
      (how, ...rest) => this.#treat(how as Treatment, ...rest),
    ],
  ];

  get #carried(): string | undefined {
    return this.objects.find((object) => this.placeOf(object) === hand);
  }

  #go(place: string): string {
    if (!this.receptacles.includes(place)) return `Nothing happens: there is no ${place}.`;
    this.#here = place;
    return this.#look();
  }

  #look(): string {
    const here = this.#here;
    if (here === undefined)
      return `You stand in the middle of the house. Around you: ${this.receptacles.join(', ')}.`;
    if (!this.#isOpen(here)) return `You are at ${here}. It is closed.`;
    return `You are at ${here}. ${this.#see(here)}`;
  }

  #setOpen(place: string, open: boolean): string {
    if (place !== this.#here) return this.#notAt(place);
    if (!isClosable(place)) return `Nothing happens: ${place} cannot be opened or closed.`;
    if (open) this.#open.add(place);
    else this.#open.delete(place);
    return open ? `You open ${place}. ${this.#see(place)}` : `You close ${place}.`;
  }

  #take(object: string, place: string): string {
    if (place !== this.#here) return this.#notAt(place);
    if (!this.#isOpen(place)) return `Nothing happens: ${place} is closed.`;
    if (this.#places.get(object) !== place) return `Nothing happens: there is no ${object} at ${place}.`;
    if (this.#carried) return `Nothing happens: you carry ${this.#carried} already.`;
    this.#places.set(object, hand);
    this.taken.add(object);
    this.#see(place);
    return `You take ${object} from ${place}.`;
  }

  #put(object: string, place: string): string {
    if (place !== this.#here) return this.#notAt(place);
    if (!this.#isOpen(place)) return `Nothing happens: ${place} is closed.`;
    if (this.#carried !== object) return `Nothing happens: you do not carry ${object}.`;
    this.#places.set(object, place);
    this.#see(place);
    return `You put ${object} ${preposition(place)} ${place}.`;
  }

  #treat(treatment: Treatment, object: string, place: string): string {
    const { appliance, state } = treatments[treatment];
    if (place !== this.#here) return this.#notAt(place);
    if (this.#carried !== object) return `Nothing happens: you do not carry ${object}.`;
    if (kindOf(place) !== appliance || !objectKinds[kindOf(object)]!.includes(treatment)) {
      return `Nothing happens: you cannot ${treatment} ${object} with ${place}.`;
    }
    this.#states.set(object, state);
    return `You ${treatment} ${object} with ${place}. It is ${state} now.`;
  }

  #isOpen(place: string): boolean {
    return !isClosable(place) || this.#open.has(place);
  }

  /** The contents of a receptacle, which the agent sees and remembers. */
  #see(place: string): string {
    const contents = this.objects.filter((object) => this.placeOf(object) === place).join(', ') || 'nothing';
    this.#seen.set(place, contents);
    return `${preposition(place) === 'in' ? 'In' : 'On'} it: ${contents}.`;
  }

  #notAt(place: string): string {
    return `Nothing happens: you are not at ${place}. Go there first.`;
  }
}
