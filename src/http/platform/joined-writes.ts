/**
 * Writes the answers of a connection that are ready in one tick of the event loop at once. The engine answers a batch of commands in
 * one tick, and a write is a call of the system: it costs more than the rest of an answer.
 *
 * Node.js begins an answer when the one before it is written. So an answer counts as written when it is held here, if its client has sent
 * further requests ahead. All else is written as always: clients that wait for each answer get it without delay.
 */
import type { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/** What a connection may hold until the end of the tick, in characters or bytes. What comes on top is written as always. */
const MAX_HELD = 64 * 1024

/** @param isAhead whether the client has sent requests beside the one that is being answered */
export function joinWrites(socket: Socket, isAhead: () => boolean): void {
  const { _write, _writev, _final, _destroy } = socket
  if (_writev === undefined) return
  let held: { chunk: unknown; encoding: BufferEncoding }[] = []
  let size = 0
  /** What was held is still being written, since the client reads slowly: the next answer waits for it. */
  let isWriting = false

  function write(done: Done): void {
    const chunks = held
    held = []
    size = 0
    _writev?.call(socket, chunks, done)
  }

  function writeHeld(): void {
    if (held.length === 0) return
    isWriting = true
    write(error => {
      isWriting = false
      if (error) socket.destroy(error)
    })
  }

  socket._write = (chunk: string | Uint8Array, encoding, done) => {
    const holds = isAhead() && !isWriting && size + chunk.length <= MAX_HELD
    if (!holds && held.length === 0) return _write.call(socket, chunk, encoding, done)
    if (held.push({ chunk, encoding }) === 1) setImmediate(writeHeld)
    size += chunk.length
    if (holds) done()
    else write(done)
  }
  socket._writev = (chunks, done) => {
    if (held.length === 0) return _writev.call(socket, chunks, done)
    held.push(...chunks)
    write(done)
  }
  socket._final = done => {
    writeHeld()
    _final.call(socket, done)
  }
  socket._destroy = (error, done) => {
    writeHeld()
    _destroy.call(socket, error, done)
  }
}
