/** The shop of sql-v1: customers, products, orders and the items of each order. */
import { createRng, type Rng } from '@toolenv/core';

export const cities = ['Aarhus', 'Bergen', 'Cork', 'Delft', 'Ghent'] as const;
export const categories = ['books', 'garden', 'kitchen', 'music', 'toys'] as const;

const people =
  'Ada Ben Clara Dina Emil Farid Greta Hugo Ines Jonas Kofi Lena Mila Noor Oskar Priya Quinn Rosa Samir Tara Umar Vera'.split(
    ' ',
  );
const goods: Record<(typeof categories)[number], readonly string[]> = {
  books: ['atlas', 'cookbook', 'diary', 'novel', 'dictionary'],
  garden: ['hose', 'rake', 'spade', 'watering can', 'bird house'],
  kitchen: ['kettle', 'pan', 'teapot', 'toaster', 'whisk'],
  music: ['drum', 'flute', 'guitar', 'ukulele', 'violin'],
  toys: ['doll', 'kite', 'puzzle', 'robot', 'yo-yo'],
};

export const schema = `CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, category TEXT, price INTEGER); -- dollars
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), day TEXT); -- YYYY-MM-DD
CREATE TABLE item (
  purchase_id INTEGER REFERENCES purchase (id),
  product_id INTEGER REFERENCES product (id),
  quantity INTEGER,
  PRIMARY KEY (purchase_id, product_id)
);`;

export interface Shop {
  /** Makes the database: the schema and all rows. */
  script: string;
  customers: readonly string[];
  products: readonly string[];
}

/** The shop of a seed: 12 customers, 15 products, and `count` purchases of one to three products. */
export function createShop(seed: number, count: number): Shop {
  const rng = createRng(seed, 'shop');
  const customers = rng.shuffle(people).slice(0, 12);
  const offer = categories.flatMap((category) => goods[category].map((name) => ({ name, category })));
  const products = rng.shuffle(offer).slice(0, 15);
  const purchases = Array.from({ length: count }, (_, index) => index + 1);
  const script = [
    schema,
    insert('customer', customers, (name, id) => [[id, name, rng.pick(cities)]]),
    insert('product', products, ({ name, category }, id) => [[id, name, category, 3 + rng.int(90)]]),
    insert('purchase', purchases, (id) => [[id, 1 + rng.int(customers.length), drawDay(rng)]]),
    insert('item', purchases, (purchase) => {
      const bought = rng.shuffle([...products.keys()]).slice(0, 1 + rng.int(3));
      return bought.map((index) => [purchase, index + 1, 1 + rng.int(4)]);
    }),
  ];
  return { script: script.join('\n'), customers, products: products.map(({ name }) => name) };
}

/** Inserts the rows of each thing. The ids of things begin at 1. */
function insert<Thing>(
  table: string,
  things: readonly Thing[],
  rowsOf: (thing: Thing, id: number) => (string | number)[][],
): string {
  const literal = (value: string | number) => (typeof value === 'number' ? value : `'${value}'`);
  const rows = things.flatMap((thing, index) => rowsOf(thing, index + 1));
  return `INSERT INTO ${table} VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ')};`;
}

function drawDay(rng: Rng): string {
  const [month, day] = [1 + rng.int(12), 1 + rng.int(28)].map((number) => String(number).padStart(2, '0'));
  return `2025-${month}-${day}`;
}
