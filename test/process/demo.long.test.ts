import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { PROJECT } from '../support/paths.ts'
import { createSite } from '../support/process.ts'

const site = await createSite()
const folder = await mkdtemp(join(tmpdir(), 'demo-'))
// As a machine's folder for temporary files: started by root, the demo goes on as another account.
await chmod(folder, 0o1777)
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the demo has the customers that its visitors are sent to, and leaves nothing behind', async () => {
  const args = [join(PROJECT, 'scripts/demo.ts'), '--days', '1']
  const demo = site.launch(args, { PORT: '0', TMPDIR: folder }, join(PROJECT, 'bin/node'))
  await expect.poll(demo.stdout, { timeout: 60_000 }).toContain('The demo runs.')
  const [, url = '', token = ''] = /^(http\S+)\/console\/#token=(\S+)$/m.exec(demo.stdout()) ?? []
  const admin = createClient({ url, token })
  const blocked = await admin.summarizeQuotasOfUser({ userId: 4_711 })
  expect(blocked.available).toBe(0)
  expect(blocked.remaining).toBeGreaterThan(5_000)
  const { items } = await admin.listReservations({ userId: 1_042, pageSize: 20 })
  expect(items.map(({ country }) => country)).toContain('NG')
  expect((await admin.listWebhooks()).items).toHaveLength(2)
  const ending = await admin.summarizeQuotasOfUser({ userId: 7 })
  expect(ending.available).toBeGreaterThan(0)
  // A week takes 560.
  expect(ending.available).toBeLessThan(560)
  const tokens = [...demo.stdout().matchAll(/^http\S+\/console\/#token=(\S+)$/gm)].map(([, found = '']) => found)
  const callers = await Promise.all(tokens.map(token => createClient({ url, token }).whoAmI()))
  expect(callers.map(({ roles, userId }) => [roles, userId])).toEqual([
    [['admin'], 1],
    [['support'], 2],
    [['auditor'], 3],
    [[], 4_711],
  ])

  expect((await demo.stop()).code).toBe(0)
  expect(await readdir(folder)).toEqual([])
})
