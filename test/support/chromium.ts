/**
 * The browser that the tests drive: the one CHROME_PATH names, else one that is installed, else the one that npm
 * brings, which needs nothing of the machine but its C library.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { access, chmod, constants, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

interface Chromium {
  readonly executablePath: string
  /** What it must find in its environment beside what is there. */
  readonly env: Readonly<Record<string, string>>
}

const INSTALLED = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** The package's own fonts and those of the machine, if it has any: without a single one Chromium ends itself. */
const FONTS = `<?xml version="1.0"?>
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/chromium')

export async function launchChromium(): Promise<Browser> {
  const { executablePath, env } = await findChromium()
  const options = {
    executablePath,
    env: { ...process.env, ...env },
    // Pages are drawn without a graphics card everywhere.
    args: ['--disable-gpu', '--font-render-hinting=none'],
  }
  const unguarded = () => chromium.launch({ ...options, chromiumSandbox: false })
  // Its sandbox cannot be had by root, nor where the system forbids user namespaces.
  if (process.getuid?.() === 0) return unguarded()
  return chromium.launch({ ...options, chromiumSandbox: true }).catch(unguarded)
}

async function findChromium(): Promise<Chromium> {
  const named = process.env.CHROME_PATH
  if (named !== undefined) return { executablePath: named, env: {} }
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of INSTALLED) {
      const executablePath = join(folder, name)
      if (await isExecutable(executablePath)) return { executablePath, env: {} }
    }
  }
  return fromPackage()
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * The package is made for a cloud's functions: compressed, with the libraries and fonts that are missing there. It
 * unpacks them elsewhere only if it thinks itself there, so that is done here, once for each version.
 */
async function fromPackage(): Promise<Chromium> {
  const packed = resolve(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../bin')
  const { version } = JSON.parse(await readFile(join(packed, '../package.json'), 'utf8'))
  const folder = join(CACHE, version)
  const unpacked = {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  }
  if (await isExecutable(unpacked.executablePath)) return unpacked

  await mkdir(CACHE, { recursive: true })
  // Unpacked aside and moved, so that nobody finds half of it.
  const aside = await mkdtemp(join(CACHE, 'unpacking-'))
  await chmod(aside, 0o755)
  await Promise.all([
    unpackFile(join(packed, 'chromium.br'), join(aside, 'chromium')),
    unpackFolder(join(packed, 'al2023.tar.br'), join(aside, 'al2023')),
    unpackFolder(join(packed, 'fonts.tar.br'), join(aside, 'fonts')),
    writeFile(join(aside, 'fonts.conf'), FONTS),
  ])
  await rename(aside, folder).catch(async error => {
    await rm(aside, { recursive: true, force: true })
    // Another run was faster; its copy is as good.
    if (!(await isExecutable(unpacked.executablePath))) throw error
  })
  return unpacked
}

async function unpackFile(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode: 0o755 }))
}

async function unpackFolder(from: string, to: string): Promise<void> {
  const archive = `${to}.tar`
  await unpackFile(from, archive)
  await mkdir(to, { recursive: true })
  await promisify(execFile)('tar', ['-xf', archive, '-C', to])
  await rm(archive)
}
