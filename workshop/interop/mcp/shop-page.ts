/** A page on loopback with a button for each item. The path of the page names the customer. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const buttons = ['apple', 'pear'].map(
  (item) =>
    `<button onclick="buy('${item}').then(() => this.replaceWith('Sold ${item}'))">Buy ${item}</button>`,
);
const html = `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>${buttons.join('')}
<script>const buy = (item) => fetch(location, { method: 'POST', body: item })</script>`;

export interface ShopPage {
  url: string;
  /** What a customer has bought. */
  bought(customer: string): string[];
  close(): void;
}

export async function openShopPage(): Promise<ShopPage> {
  const sales: { customer: string; item: string }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const item = (await request.toArray()).join('');
      sales.push({ customer: request.url!.slice(1), item });
    }
    response.setHeader('content-type', 'text/html').end(html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bought: (customer) => sales.filter((sale) => sale.customer === customer).map(({ item }) => item),
    close: () => void server.close().closeAllConnections(),
  };
}
