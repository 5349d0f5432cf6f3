/** Connections that tests hold themselves. */
import type { Duplex } from 'node:stream'

/**
 * Resolves when a connection is closed, however it ends. `once(socket, 'close')` fails if the other end resets the connection first,
 * which depends on who writes last.
 */
export function closeOf(socket: Duplex): Promise<void> {
  socket.on('error', () => {})
  return new Promise(resolve => socket.once('close', () => resolve()))
}
