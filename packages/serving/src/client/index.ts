/** @toolenv/serving/client: how the clients of servers ask, with limits on size and time, and repeated tries. */
export { AnswerTooLarge, bounded, boundedFetch, maxAnswerSize } from './bounded-fetch.ts';
export { backoff, isTransient } from './retries.ts';
export { retryAfter } from './retry-after.ts';
