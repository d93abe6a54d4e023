/** The shop that `python/shop.py`, `go/shop.go` and `rust/src/shop.rs` serve, each with the library of its language. */
import { goPeer, type Peer, pythonPeer, rustPeer } from './peers.ts';

/** @param python Has the packages of mcp.txt. */
export function shops(python: string): Record<string, Peer> {
  return { FastMCP: pythonPeer(python, 'shop.py'), 'mcp-go': goPeer('go', 'serve'), rmcp: rustPeer('serve') };
}

const ship = { address: { city: 'Oslo' }, lines: [{ item: 'apple', count: 2 }, { item: 'pear' }] };

export const shop = {
  tools: ['pack', 'price', 'receipt', 'ship', 'stock', 'unlock'],
  /** Tool, arguments, what the model reads. */
  calls: [
    ['price', { item: 'apple', count: 2 }, '2 of apple: 4 euros'],
    ['price', { item: 'apple' }, '1 of apple: 2 euros'],
    ['price', { item: 'pear' }, 'Error: no such item: pear'],
    ['price', { item: 7 }, /^Error \(invalid_arguments\) at \/item: expected must be string; received 7\. /],
    ['stock', {}, '{"apple":3,"pear":0}'],
    ['ship', { order: ship }, '3 items to Oslo'],
    ['ship', { order: { ...ship, address: {} } }, /^Error \(invalid_arguments\) at \/order\/address\/city: /],
    ['receipt', {}, '[resource_link shop://receipts/1] receipt: the last sale'],
    ['cellar', {}, /^Error \(unknown_tool\)/],
    ['pack', {}, 'packed'],
    ['unlock', {}, 'unlocked'],
    ['cellar', {}, 'cider'],
  ],
  progress: [1, 2, 3].map((box) => ({ progress: box, total: 3, message: `box ${box}` })),
} as const;
