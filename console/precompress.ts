import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Smaller files are not worth compressing. */
const MIN_BYTES = 1_024

const asBrotli = promisify(brotliCompress)
const asGzip = promisify(gzip)

/** Writes `.br` and `.gz` files beside the build output, at the highest level: compressed once, sent often. */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const files = Object.values(bundle).map(file => ({
        path: join(dir, file.fileName),
        content: Buffer.from(file.type === 'chunk' ? file.code : file.source),
      }))
      const compressible = files.filter(
        ({ path, content }) => /\.(js|css|svg)$/.test(path) && content.length >= MIN_BYTES,
      )
      await Promise.all(compressible.map(({ path, content }) => compress(path, content)))
    },
  }
}

async function compress(path: string, content: Buffer): Promise<void> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await Promise.all([
    asBrotli(content, { params }).then(compressed => writeFile(`${path}.br`, compressed)),
    asGzip(content, { level: constants.Z_BEST_COMPRESSION }).then(compressed => writeFile(`${path}.gz`, compressed)),
  ])
}
