/** Unreadable: a text that begins like a call, but is not a call. The message says why, as a sentence. */
export class Unreadable extends Error {}
