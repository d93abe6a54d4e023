/** Unreadable: a text that begins as a call and is none. The message says why, as a sentence. */
export class Unreadable extends Error {}
