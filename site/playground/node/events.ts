/** node:events in a tab, where nobody warns of many listeners. */
export { EventEmitter } from 'unenv/node/events';

export function setMaxListeners(): void {}
