import { test } from 'vitest'
import { createSite } from '../support/process.ts'
import { expectShown, linesOf, paste } from '../support/walk.ts'

const site = await createSite()

test("the README's tour and then the long tour work when pasted line by line", async () => {
  const readme = await linesOf('README.md', 'A tour of a minute')
  const tour = await linesOf('docs/tour.md')
  const service = await site.start()
  for (const lines of [readme, tour]) {
    expectShown(lines, await paste(lines, { url: service.url, DATA_DIR: site.dataDir }))
  }
  await service.stop()
  // Some eighty processes, one after the other, on a machine that may be busy.
})
