/** The error for a client when the server is full. */
export function tooMany(limit: number): string {
  const clients = limit === 1 ? 'one client at a time' : `at most ${limit} clients at a time`;
  return `Too many sessions: this server takes ${clients} (maxSessions): end a session, or try again later`;
}
