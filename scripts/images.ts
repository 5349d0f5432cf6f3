/** `npm run images`: takes the images of the README and the documentation from the demo. */
import { resolve } from 'node:path'
import { launchChromium } from '../test/support/chromium.ts'
import { startDemo } from './demo/service.ts'

const FOLDER = resolve(import.meta.dirname, '../docs/images')

/** The images by file name, each with the page that it shows. */
const IMAGES = {
  overview: '/overview',
  quotas: '/quotas',
  user: '/users/4711',
  denials: '/denials',
}

const demo = await startDemo({ port: 0, pastDays: 33, onProgress: text => process.stderr.write(`${text}\n`) })
const browser = await launchChromium()
try {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  const page = await context.newPage()
  await page.goto(demo.console)
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const [name, path] of Object.entries(IMAGES)) {
    await page.goto(`${demo.url}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // Everything has loaded when only the live feed waits.
    await page.locator('[role=status] .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: resolve(FOLDER, `${name}.png`) })
    process.stdout.write(`docs/images/${name}.png\n`)
  }
} finally {
  await browser.close()
  await demo.close()
}
