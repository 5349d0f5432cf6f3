import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** A pipe, a folder, a device or a socket in the place of a file. */
export class NotRegular extends Error {
  constructor(path: string) {
    super(`${path} is a pipe, a folder or a device, not a regular file`)
  }
}

/** Opens a file to read. Does not wait for a writer, as a pipe would. @throws NotRegular */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(error => {
    // A socket.
    throw error.code === 'ENXIO' ? new NotRegular(path) : error
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new NotRegular(path)
}
