/**
 * Thread of query-worker.ts, in JavaScript because Node starts it as it is. Answers each message `{ script, sql, maxRows }` from a
 * new database, so that no query can change what another reads.
 */
import { parentPort } from 'node:worker_threads';
import sqlite from 'node-sqlite3-wasm';

parentPort?.on('message', ({ script, sql, maxRows }) => {
  const database = new sqlite.Database(':memory:');
  try {
    database.exec(script);
    // In parentheses, SQLite's grammar admits a query and nothing else: no ATTACH, which could write files, and no second statement.
    const rows = database.all(`SELECT * FROM (${sql.trim().replace(/;$/, '')}\n) LIMIT ${maxRows + 1}`);
    const [first = {}] = rows;
    parentPort?.postMessage({ columns: Object.keys(first), rows: rows.map((row) => Object.values(row)) });
  } catch (error) {
    // Another error may leave the WebAssembly module in any state.
    const isBroken = !(error instanceof sqlite.SQLite3Error);
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error), isBroken });
  } finally {
    database.close();
  }
});
parentPort?.postMessage('ready');
