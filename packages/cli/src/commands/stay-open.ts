/** stayOpen: keeps a page or a server open until the command is told to end. */
import { once } from 'node:events';

/** Closes the service once the signal aborts. @throws The signal's reason. */
export async function stayOpen(service: { close(): Promise<void> }, signal: AbortSignal): Promise<void> {
  try {
    await (signal.aborted || once(signal, 'abort'));
  } finally {
    await service.close();
  }
  signal.throwIfAborted();
}
