/** Answer: what a server says to a request. */
import type { Refusal } from './refusal.ts';

export type Json = Record<string, unknown>;

/** A reply, or the reason why the server does not take the request as it is. */
export type Answer = { body: Json; refusal?: undefined } | { body?: undefined; refusal: Refusal };
