/** Questions of sql-v1 about a shop, with the queries that answer them. */
import type { Rng } from '@toolenv/core';
import { categories, cities, type Shop } from './shop.ts';

export interface Question {
  question: string;
  /**
   * The first value of its first row is the answer. A query for the most also returns the amount, as its second value, and
   * the next row, so that a tie can be seen.
   */
  query: string;
}

const months = 'January February March April May June July August September October November December';

/** Each item that was bought, with its product, purchase and customer. */
const bought = `item JOIN product ON product.id = product_id
  JOIN purchase ON purchase.id = purchase_id JOIN customer ON customer.id = customer_id`;

function most(what: string, amount: string, from: string): string {
  return `SELECT ${what}, ${amount} FROM ${from} GROUP BY ${what} ORDER BY ${amount} DESC LIMIT 2`;
}

/** Each draws the names that it asks about. */
export const questions: readonly ((rng: Rng, shop: Shop) => Question)[] = [
  (rng) => {
    const city = rng.pick(cities);
    const question = `How many customers live in ${city}?`;
    return { question, query: `SELECT count(*) FROM customer WHERE city = '${city}'` };
  },
  (rng) => {
    const month = rng.int(12);
    const question = `How many purchases were made in ${months.split(' ')[month]}?`;
    return {
      question,
      query: `SELECT count(*) FROM purchase WHERE CAST(substr(day, 6, 2) AS INTEGER) = ${month + 1}`,
    };
  },
  () => {
    const question = 'How many customers never bought anything?';
    return {
      question,
      query: 'SELECT count(*) FROM customer WHERE id NOT IN (SELECT customer_id FROM purchase)',
    };
  },
  (rng, { customers }) => {
    const name = rng.pick(customers);
    const question = `How many purchases did ${name} make?`;
    const from = 'purchase JOIN customer ON customer.id = customer_id';
    return { question, query: `SELECT count(*) FROM ${from} WHERE name = '${name}'` };
  },
  (rng, { products }) => {
    const name = rng.pick(products);
    const question = `How many pieces of the product "${name}" were sold?`;
    return { question, query: `SELECT sum(quantity) FROM ${bought} WHERE product.name = '${name}'` };
  },
  (rng, { customers }) => {
    const name = rng.pick(customers);
    const question = `How many dollars did ${name} spend in all?`;
    return { question, query: `SELECT sum(quantity * price) FROM ${bought} WHERE customer.name = '${name}'` };
  },
  (rng) => {
    const city = rng.pick(cities);
    const question = `How many different products did customers from ${city} buy?`;
    return { question, query: `SELECT count(DISTINCT product_id) FROM ${bought} WHERE city = '${city}'` };
  },
  (rng) => {
    const category = rng.pick(categories);
    const question = `Which product of the category ${category} has the highest price?`;
    return { question, query: most('name', 'max(price)', `product WHERE category = '${category}'`) };
  },
  () => {
    const question = 'Which customer made the most purchases?';
    return { question, query: most('customer.name', 'count(DISTINCT purchase.id)', bought) };
  },
  () => {
    const question = 'Which category of products brought in the most money?';
    return { question, query: most('category', 'sum(quantity * price)', bought) };
  },
  () => {
    const question = 'Customers of which city bought the most pieces in all?';
    return { question, query: most('city', 'sum(quantity)', bought) };
  },
  (rng, { customers }) => {
    const name = rng.pick(customers);
    const question = `Of which product did ${name} buy the most pieces?`;
    return {
      question,
      query: most('product.name', 'sum(quantity)', `${bought} WHERE customer.name = '${name}'`),
    };
  },
];
