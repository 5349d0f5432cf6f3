/**
 * Documents that are the same for every client and need no token: bytes with their compressed forms, made once. A flood of calls
 * for them costs no more than to send bytes.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../errors.ts'

const ENCODINGS = ['br', 'gzip'] as const
type Encoding = (typeof ENCODINGS)[number]

export interface Document {
  readonly type: string
  /** The same for all forms, so it is weak. */
  readonly etag: string
  readonly bytes: Buffer
  readonly compressed: Readonly<Record<Encoding, Buffer>>
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

const COMPRESS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  // The best quality takes seconds for a megabyte.
  br: bytes => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: bytes => promisify(gzip)(bytes),
}

/** @param compressed forms that exist already */
export async function createDocument(
  type: string,
  bytes: Buffer,
  compressed: Partial<Record<Encoding, Buffer>> = {},
): Promise<Document> {
  const [br, gzipped] = await Promise.all(ENCODINGS.map(async name => compressed[name] ?? COMPRESS[name](bytes)))
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
  return { type, etag, bytes, compressed: { br: br ?? bytes, gzip: gzipped ?? bytes } }
}

/** What `make` resolves to, made with the first call, and again after a failure. */
export function madeOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make().catch(error => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Sends a document in a form that the client accepts, or 304 if it has the document. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, bytes, compressed }: Document,
  cacheControl = 'no-cache',
): FastifyReply {
  reply.headers({ etag, 'cache-control': cacheControl, vary: 'accept-encoding' })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const encoding = ENCODINGS.find(name => isAccepted(request.headers['accept-encoding'], name))
  reply.type(type)
  return encoding === undefined
    ? reply.send(bytes)
    : reply.header('content-encoding', encoding).send(compressed[encoding])
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const strong = etag.slice('W/'.length)
  return ifNoneMatch?.split(',').some(one => [etag, strong, '*'].includes(one.trim())) ?? false
}

function isAccepted(acceptEncoding: string | undefined, name: Encoding): boolean {
  if (acceptEncoding === undefined) return false
  return acceptEncoding.split(',').some(one => {
    const [coding = '', ...parameters] = one.split(';').map(part => part.trim().toLowerCase())
    return coding === name && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

/**
 * Sends the files of a folder, for a route that ends in `*`. Each is read when it is first asked for, and then kept. The build may have compressed it
 * (`.br`, `.gz`). A folder is listed again if a name is not in it, at most once a second.
 */
export function createFiles(folder: string, now: () => number = () => performance.now()) {
  const documents = new Map<string, () => Promise<Document>>()
  let listed: Promise<ReadonlySet<string>> | undefined
  let listedAt = Number.NEGATIVE_INFINITY

  async function hasName(name: string): Promise<boolean> {
    if ((await listed)?.has(name) === true) return true
    if (now() - listedAt >= RELIST_MS) {
      listedAt = now()
      listed = readdir(folder).then(
        names => new Set(names),
        () => new Set<string>(),
      )
    }
    // Another call may have begun to list it meanwhile.
    return (await listed)?.has(name) === true
  }

  async function read(name: string): Promise<Document> {
    const bytes = await readFile(join(folder, name))
    const [br, gzipped] = await Promise.all(['.br', '.gz'].map(suffix => existing(join(folder, name + suffix))))
    return createDocument(TYPES[extname(name)] ?? 'application/octet-stream', bytes, {
      ...(br && { br }),
      ...(gzipped && { gzip: gzipped }),
    })
  }

  return async (request: FastifyRequest, reply: FastifyReply, cacheControl?: string) => {
    const name = String(Object(request.params)['*'])
    let document = documents.get(name)
    if (document === undefined) {
      // A name of the listing has no slash, so it leads nowhere else.
      if (!(await hasName(name))) throw new Problem('not_found', 'There is no such file.')
      document = documents.get(name) ?? madeOnce(() => read(name))
      documents.set(name, document)
    }
    return sendDocument(request, reply, await document(), cacheControl)
  }
}

const RELIST_MS = 1_000

async function existing(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(error => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
}
