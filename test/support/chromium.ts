/**
 * Finds the browser for the tests: CHROME_PATH, an installed Chromium or Chrome, or the one of the npm package
 * @sparticuz/chromium, which needs only the C library of the machine.
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
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>
}

const INSTALLED = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** The fonts of the package and of the machine: Chromium exits without any font. */
const FONTS = `<?xml version="1.0"?>
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/chromium')

let shared: Promise<Browser> | undefined

/** The browser of all test files that run in this process, which ends with it. */
export async function sharedChromium(): Promise<Browser> {
  const running = await shared
  if (running?.isConnected() === true) return running
  shared = launchChromium()
  return shared
}

export async function launchChromium(): Promise<Browser> {
  const { executablePath, env } = await findChromium()
  const options = {
    executablePath,
    env: { ...process.env, ...env },
    // The same rendering with and without a GPU.
    args: ['--disable-gpu', '--font-render-hinting=none'],
  }
  const withoutSandbox = () => chromium.launch({ ...options, chromiumSandbox: false })
  // The sandbox is not available to root, nor on systems that forbid user namespaces.
  if (process.getuid?.() === 0) return withoutSandbox()
  return chromium.launch({ ...options, chromiumSandbox: true }).catch(withoutSandbox)
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
 * The package is made for cloud functions: compressed, with the libraries and fonts that they lack. It unpacks those
 * only on a cloud platform, so this unpacks them, once per version.
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
  // Unpacked elsewhere and moved, so that no other run finds an incomplete folder.
  const temporary = await mkdtemp(join(CACHE, 'unpacking-'))
  await chmod(temporary, 0o755)
  await Promise.all([
    unpackFile(join(packed, 'chromium.br'), join(temporary, 'chromium')),
    unpackFolder(join(packed, 'al2023.tar.br'), join(temporary, 'al2023')),
    unpackFolder(join(packed, 'fonts.tar.br'), join(temporary, 'fonts')),
    writeFile(join(temporary, 'fonts.conf'), FONTS),
  ])
  await rename(temporary, folder).catch(async error => {
    await rm(temporary, { recursive: true, force: true })
    // Another run was faster.
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
