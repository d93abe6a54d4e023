/** Houses: receptacles, and objects in them. */
import type { Rng } from '@toolenv/core';

/** What can be done to an object, with which appliance, and what the object is then. */
export const treatments = {
  clean: { appliance: 'sinkbasin', state: 'clean' },
  heat: { appliance: 'microwave', state: 'hot' },
  cool: { appliance: 'fridge', state: 'cold' },
} as const;

export type Treatment = keyof typeof treatments;

/** The treatments of each kind of object. */
export const objectKinds: Readonly<Record<string, readonly Treatment[]>> = {
  apple: ['clean', 'heat', 'cool'],
  book: [],
  bowl: ['clean', 'cool'],
  bread: ['heat', 'cool'],
  candle: [],
  egg: ['clean', 'heat', 'cool'],
  fork: ['clean'],
  mug: ['clean', 'heat', 'cool'],
  newspaper: [],
  pen: [],
  plate: ['clean', 'heat', 'cool'],
  potato: ['clean', 'heat', 'cool'],
  tomato: ['clean', 'heat', 'cool'],
};

/** The least and the greatest number of each kind of receptacle. */
const receptacleCounts: Readonly<Record<string, readonly [number, number]>> = {
  cabinet: [2, 4],
  countertop: [1, 2],
  desk: [1, 1],
  diningtable: [1, 1],
  drawer: [2, 4],
  fridge: [1, 1],
  garbagecan: [1, 1],
  microwave: [1, 1],
  shelf: [1, 3],
  sinkbasin: [1, 1],
};

export const receptacleKinds: readonly string[] = Object.keys(receptacleCounts);

const closable: readonly string[] = ['cabinet', 'drawer', 'fridge', 'microwave'];

export interface House {
  /** Names, such as `cabinet 2`. */
  receptacles: string[];
  /** The receptacle of each object. */
  objects: Record<string, string>;
}

/** `cabinet` of `cabinet 2`. */
export function kindOf(name: string): string {
  return name.split(' ')[0]!;
}

/** Closed at first, and must be opened to take or to put. */
export function isClosable(receptacle: string): boolean {
  return closable.includes(kindOf(receptacle));
}

/** `in` or `on`. */
export function preposition(receptacle: string): string {
  return isClosable(receptacle) || ['garbagecan', 'sinkbasin'].includes(kindOf(receptacle)) ? 'in' : 'on';
}

/** Draws a house with `count` objects of one kind, none of which is in a receptacle of the kind `except`. */
export function drawHouse(rng: Rng, wanted: { kind: string; count: number; except: string }): House {
  const receptacles = Object.entries(receptacleCounts).flatMap(([kind, [least, most]]) =>
    numbered(kind, least + rng.int(most - least + 1)),
  );
  const others = receptacles.filter((name) => kindOf(name) !== wanted.except);
  const objects = Object.keys(objectKinds).flatMap((kind) => {
    const isWanted = kind === wanted.kind;
    const count = isWanted ? wanted.count : 1 + rng.int(2);
    return numbered(kind, count).map((name) => [name, rng.pick(isWanted ? others : receptacles)]);
  });
  return { receptacles, objects: Object.fromEntries(objects) };
}

function numbered(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind} ${index + 1}`);
}
