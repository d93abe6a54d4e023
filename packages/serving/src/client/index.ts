/** @toolenv/serving/client: requests to servers, with limits on the size of answers, and with retries. */
export { AnswerTooLarge, bounded, boundedFetch, maxAnswerSize } from './bounded-fetch.ts';
export { backoff, isTransient, retryAfter } from './retries.ts';
