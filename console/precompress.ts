import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Smaller files gain nothing worth a decompression. */
const MIN_BYTES = 1_024

const asBrotli = promisify(brotliCompress)
const asGzip = promisify(gzip)

/** Writes `.br` and `.gz` beside what compresses well, as hard as can be: it is done once and sent often. */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const files = Object.values(bundle).map(file => ({
        path: join(dir, file.fileName),
        content: Buffer.from(file.type === 'chunk' ? file.code : file.source),
      }))
      const worthwhile = files.filter(
        ({ path, content }) => /\.(js|css|svg)$/.test(path) && content.length >= MIN_BYTES,
      )
      await Promise.all(worthwhile.map(({ path, content }) => compress(path, content)))
    },
  }
}

async function compress(path: string, content: Buffer): Promise<void> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await Promise.all([
    asBrotli(content, { params }).then(smaller => writeFile(`${path}.br`, smaller)),
    asGzip(content, { level: constants.Z_BEST_COMPRESSION }).then(smaller => writeFile(`${path}.gz`, smaller)),
  ])
}
