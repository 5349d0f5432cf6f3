/** `npm run images`: takes the images of the README and the documentation from the demo. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../test/support/chromium.ts'

const FOLDER = resolve(import.meta.dirname, '../docs/images')

/** The images by file name, each with the page that it shows. */
const IMAGES = {
  overview: '/overview',
  quotas: '/quotas',
  user: '/users/4711',
  denials: '/users/4711/denials',
}

// A process of its own: started by root, the demo goes on as another account, which may not write here.
const demo = spawn(process.execPath, [resolve(import.meta.dirname, 'demo.ts')], {
  env: { ...process.env, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(demo, 'exit')
try {
  const browser = await launchChromium()
  try {
    await takeImages(browser, await linkOf(demo.stdout))
  } finally {
    await browser.close()
  }
} finally {
  demo.kill()
  await ended
}

/** The link to the console that a demo prints when it is ready. */
async function linkOf(output: AsyncIterable<Buffer>): Promise<URL> {
  let text = ''
  for await (const chunk of output) {
    text += chunk
    const [link] = /^http\S+#token=\S+$/m.exec(text) ?? []
    if (link !== undefined) return new URL(link)
  }
  throw new Error('the demo ended before it was ready')
}

async function takeImages(browser: Browser, link: URL): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  const page = await context.newPage()
  await page.goto(link.href)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  for (const [name, path] of Object.entries(IMAGES)) {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`${link.origin}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // Everything has loaded when no placeholder is left.
    await page.getByText('Loading…').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: resolve(FOLDER, `${name}.png`) })
    process.stdout.write(`docs/images/${name}.png\n`)
  }
}
