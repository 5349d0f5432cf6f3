import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { copyFile, lstat, mkdtemp, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createClientOn } from '../../client/src/client.ts'
import { createClient, type Debt, type Journal, JournalFull, UnknownIfSent } from '../../client/src/main.ts'
import { type JournalOptions, openJournal } from '../../client/src/node/journal.ts'
import { PROJECT } from '../support/paths.ts'
import { startService } from '../support/service.ts'
import { FAST } from '../support/timers.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'journal-'))
const open: Journal[] = []
afterAll(async () => {
  for (const journal of open) await journal.close()
  await rm(folder, { recursive: true, force: true })
  await service.app.close()
})

let files = 0
const newPath = () => join(folder, `${files++}`)
async function journalAt(path: string, options: Partial<JournalOptions> = {}): Promise<Journal> {
  const journal = await openJournal(path, { onUnknown: () => 'charge', ...options })
  open.push(journal)
  return journal
}

const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: service.senderToken })
let users = 500
async function user(limit: number): Promise<number> {
  users += 1
  await admin.createQuota({ userId: users, limit })
  return users
}
async function charged(userId: number): Promise<number> {
  const { used, reserved } = await admin.summarizeQuotasOfUser({ userId })
  return used + reserved
}

type Network = 'up' | 'away' | 'deaf'

/** A client whose calls do not arrive (`away`), or are carried out without an answer (`deaf`). */
function clientOf(journal: Journal, network: Network = 'up', token = service.senderToken) {
  return createClientOn(FAST, {
    url,
    token,
    journal,
    onUnavailable: { otp: 'allow-with-debt' },
    senderTimeoutMs: 50_000,
    async fetch(input, init) {
      // As a proxy answers whose service does not.
      const away = new Response('', { status: 503, headers: { 'retry-after': '60' } })
      if (network === 'away') return away
      const answer = await fetch(input, init)
      return network === 'deaf' ? away : answer
    },
  })
}

const ask = (userId: number, id: string) => ({ userId, id, units: 2, messageType: 'otp' })
const isEmpty = (journal: Journal) => expect.poll(() => journal.debts()).toEqual([])

describe('a message that is sent while the service is away', () => {
  test.each(['away', 'deaf'] as const)('is charged once when it is back (%s)', async network => {
    const owner = await user(1)
    await admin.createQuota({ userId: owner, limit: 1 })
    const path = newPath()
    const journal = await journalAt(path)
    const away = clientOf(journal, network)
    const send = (reservation: unknown) => `sent ${reservation}`
    expect(await away.withReservation(ask(owner, 'm'), send)).toMatchObject({
      sent: true,
      value: 'sent null',
      settled: null,
      isDebt: true,
    })
    // The same message again is no further debt, and is not refused.
    await away.withReservation(ask(owner, 'm'), send)
    expect(journal.debts()).toMatchObject([{ request: ask(owner, 'm'), outcome: 'sent' }])
    clientOf(journal)
    await isEmpty(journal)
    expect(await admin.getReservationOfUser({ userId: owner, id: 'm' })).toMatchObject({ committed: 2 })
    expect(await charged(owner)).toBe(2)
    const again = clientOf(await journalAt(newPath())).withReservation(ask(owner, 'm'), () => expect.unreachable())
    expect(await again).toMatchObject({ granted: true, sent: 'before', reservation: { committed: 2 } })
    // Nothing of a message stays on the disk.
    expect(await readFile(path, 'utf8')).not.toContain('otp')
  })

  test('is charged past any limit, also if its reservation has expired', async () => {
    const owner = await user(1)
    const journal = await journalAt(newPath())
    await clientOf(journal, 'away').withReservation(ask(owner, 'beyond'), () => 'sent')
    await admin.createQuota({ userId: owner, limit: 2, name: 'for the next' })
    const kept = { ...ask(owner, 'expired'), onExpiry: 'release', ttlSeconds: 1 } as const
    await clientOf(journal, 'deaf').withReservation(kept, () => 'sent')
    service.clock.now += 2_000
    expect(await sender.getReservation({ userId: owner, id: 'expired' })).toMatchObject({ state: 'expired' })
    clientOf(journal)
    await isEmpty(journal)
    expect(await charged(owner)).toBe(4)
  })

  test('is not charged again if it was charged and refunded before its debt was settled', async () => {
    const owner = await user(10)
    const journal = await journalAt(newPath())
    await clientOf(journal, 'deaf').withReservation(ask(owner, 'm'), () => 'sent')
    await sender.commit({ userId: owner, id: 'm', force: true })
    await sender.refund({ userId: owner, id: 'm' })
    clientOf(journal)
    await isEmpty(journal)
    expect(await charged(owner)).toBe(0)
  })

  test.each(['away', 'deaf'] as const)(
    'costs nothing if the send fails, even if the call arrives late (%s)',
    async network => {
      const owner = await user(10)
      const journal = await journalAt(newPath())
      const client = clientOf(journal, network)
      const failing = client.withReservation(ask(owner, 'm'), () => Promise.reject(new Error('no route')))
      await expect(failing).rejects.toThrow('no route')
      expect(journal.debts()).toMatchObject([{ outcome: 'not-sent' }])
      clientOf(journal)
      await isEmpty(journal)
      const late = sender.reserve({ ...ask(owner, 'm'), onExpiry: 'commit' })
      await expect(late).rejects.toMatchObject({ code: 'reservation_closed' })
      expect(await charged(owner)).toBe(0)
    },
  )

  test('stays charged if another process has sent it after the send of this one has failed', async () => {
    const owner = await user(10)
    const journal = await journalAt(newPath())
    const failing = clientOf(journal, 'away').withReservation(ask(owner, 'm'), () =>
      Promise.reject(new Error('no route')),
    )
    await expect(failing).rejects.toThrow('no route')
    expect(await sender.withReservation(ask(owner, 'm'), () => 'sent')).toMatchObject({ sent: true })
    clientOf(journal)
    await isEmpty(journal)
    expect(await charged(owner)).toBe(2)
  })

  test('is settled if the service refuses it for good, and nothing is to be charged', async () => {
    const owner = await user(10)
    const refused: unknown[] = []
    const journal = await journalAt(newPath(), { onRefused: (_debt, error) => refused.push(error) })
    const message = { ...ask(owner, 'm'), units: -1 }
    await clientOf(journal, 'away')
      .withReservation(message, () => Promise.reject(new Error('no route')))
      .catch(() => {})
    expect(journal.debts()).toMatchObject([{ outcome: 'not-sent' }])
    clientOf(journal)
    await isEmpty(journal)
    expect(refused).toEqual([])
  })

  test('is charged if a second send succeeds, also while the failure of the first is settled', async () => {
    const owner = await user(10)
    const journal = await journalAt(newPath())
    const away = clientOf(journal, 'away')
    await away.withReservation(ask(owner, 'm'), () => Promise.reject(new Error('no route'))).catch(() => {})
    await away.withReservation(ask(owner, 'm'), async () => {
      // Neither settles a message whose send is under way.
      clientOf(journal)
      expect(journal.due()).toEqual([])
    })
    clientOf(journal)
    await isEmpty(journal)
    expect(await charged(owner)).toBe(2)
  })

  test.each([
    ['charge', 2],
    ['release', 0],
  ] as const)(
    'is reported if it is not known whether it left, and charged as the report says (%s)',
    async (decision, units) => {
      const owner = await user(10)
      const path = newPath()
      const reported: Debt[] = []
      const journal = await journalAt(path, { onUnknown: () => Promise.reject(new Error('ask the next process')) })
      const away = clientOf(journal, 'deaf')
      const unknown = await away.withReservation(ask(owner, 'm'), () => Promise.reject(new UnknownIfSent()))
      expect(unknown).toMatchObject({ sent: 'unknown', reservation: null })
      await journal.close()
      const next = await journalAt(path, {
        onUnknown(debt) {
          reported.push(debt)
          return decision
        },
      })
      clientOf(next)
      await isEmpty(next)
      expect(reported).toMatchObject([{ request: ask(owner, 'm'), outcome: 'unknown' }])
      expect(await charged(owner)).toBe(units)
    },
  )

  test('is charged while the answer about another one is awaited', async () => {
    const owner = await user(10)
    const answer = Promise.withResolvers<'charge'>()
    const journal = await journalAt(newPath(), { onUnknown: () => answer.promise })
    const away = clientOf(journal, 'away')
    await away.withReservation(ask(owner, 'unknown'), () => Promise.reject(new UnknownIfSent()))
    await away.withReservation(ask(owner, 'sent'), () => 'sent')
    clientOf(journal)
    await expect.poll(() => journal.debts()).toMatchObject([{ outcome: 'unknown' }])
    expect(await charged(owner)).toBe(2)
    answer.resolve('charge')
    await isEmpty(journal)
    expect(await charged(owner)).toBe(4)
  })

  test('stays in the journal if the service refuses to charge it, until it is removed', async () => {
    const owner = await user(10)
    const refused: unknown[] = []
    const journal = await journalAt(newPath(), { onRefused: (_debt, error) => refused.push(error) })
    await clientOf(journal, 'away').withReservation(ask(owner, 'm'), () => 'sent')
    clientOf(journal, 'up', await service.token({ sub: 'gateway', roles: ['sms-quota:sender'] }))
    await expect.poll(() => refused).toMatchObject([{ code: 'forbidden' }])
    await journal.remove(journal.debts())
    expect(journal.debts()).toEqual([])
  })
})

describe('messages are denied', () => {
  test('unless their type is allowed', async () => {
    const journal = await journalAt(newPath())
    const away = clientOf(journal, 'away')
    const others = [{ messageType: 'news' }, { messageType: 'constructor' }, {}]
    for (const type of others) {
      const denied = away.withReservation({ userId: 1, id: 'm', units: 1, ...type }, () => expect.unreachable())
      await expect(denied).rejects.toMatchObject({ name: 'UnavailableError' })
    }
    const denied = away.withReservation(ask(1, 'm'), () => expect.unreachable(), { onUnavailable: 'deny' })
    await expect(denied).rejects.toMatchObject({ name: 'UnavailableError' })
    expect(journal.debts()).toEqual([])
    const without = createClient({ url, token: 'none', onUnavailable: 'allow-with-debt' })
    await expect(without.withReservation(ask(1, 'm'), () => '')).rejects.toThrow('needs a journal')
  })

  test('when the journal is full, or its file was removed', async () => {
    const path = newPath()
    const journal = await journalAt(path, { maxEntries: 1 })
    const away = clientOf(journal, 'away')
    await away.withReservation(ask(1, 'first'), () => 'sent')
    await expect(away.withReservation(ask(1, 'second'), () => expect.unreachable())).rejects.toThrow(JournalFull)
    await journal.remove(journal.debts())
    await rename(path, `${path}.gone`)
    const lost = away.withReservation(ask(1, 'third'), () => expect.unreachable())
    await expect(lost).rejects.toMatchObject({ name: 'UnavailableError', cause: { message: /was removed/ } })
    expect(journal.debts()).toEqual([])
  })
})

describe.runIf(existsSync('/dev/full'))('on a disk', () => {
  test.each([
    ['is full', '/dev/full', 'ENOSPC'],
    ['does not flush', '/dev/null', 'EINVAL'],
  ])('that %s, messages are denied until it works again', async (_, device, code) => {
    const path = newPath()
    const journal = await journalAt(path)
    const away = clientOf(journal, 'away')
    await away.withReservation(ask(1, 'first'), () => 'sent')
    // The next file of the journal.
    await symlink(device, `${path}.new`)
    await expect(journal.remove(journal.debts())).rejects.toMatchObject({ code })
    for (const id of ['second', 'third']) {
      const denied = away.withReservation(ask(1, id), () => expect.unreachable())
      await expect(denied).rejects.toMatchObject({ name: 'UnavailableError', cause: { code } })
    }
    expect(journal.debts()).toEqual([])
    await unlink(`${path}.new`)
    await away.withReservation(ask(1, 'fourth'), () => 'sent')
    const copy = newPath()
    await copyFile(path, copy)
    expect((await journalAt(copy)).debts()).toMatchObject([{ request: { id: 'fourth' }, outcome: 'sent' }])
  })

  test('that fills up within a line, no entry is lost and none is there that was refused', async () => {
    const path = newPath()
    const script = join(import.meta.dirname, 'journal-on-full-disk.ts')
    const command = `ulimit -f 16; exec "${PROJECT}/bin/node" "${script}" "${path}"`
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command])
    const { refused, full, kept, last } = JSON.parse(stdout)
    expect(refused).toEqual(['EFBIG'])
    expect(full).toBeGreaterThan(10)
    expect(kept).toEqual(['m0', last])
    expect((await journalAt(path)).debts().map(({ request, outcome }) => [request.id, outcome])).toEqual([
      ['m0', 'sent'],
      [last, 'sent'],
    ])
  })
})

describe('the file', () => {
  test('is not opened twice, nor if it is something else', async () => {
    const path = newPath()
    await journalAt(path)
    await expect(journalAt(path)).rejects.toThrow('is open already')
    const other = newPath()
    await writeFile(other, 'a text')
    await expect(journalAt(other)).rejects.toThrow('is not a journal')
    expect(await readFile(other, 'utf8')).toBe('a text')
  })

  test('that version 0.1.0 has written is read', async () => {
    const path = newPath()
    const lines = [
      '3d2d91981d28995f [{"journal":"sms-quota-client","version":1}]',
      '6a26584238006f8b [{"op":"begin","request":{"userId":7,"id":"sent","units":2,"messageType":"otp"},"at":"2026-03-15T12:00:00.000Z"},{"op":"sent","id":"sent","userId":7}]',
      '209463433e85e2e4 [{"op":"begin","request":{"userId":7,"id":"open","units":1,"messageType":"otp"},"at":"2026-03-15T12:00:01.000Z","mayBeCommitted":true}]',
    ]
    await writeFile(path, lines.map(line => `${line}\n`).join(''))
    const journal = await journalAt(path)
    expect(journal.find({ userId: 7, id: 'sent' })).toMatchObject({ outcome: 'sent', request: { units: 2 } })
    expect(journal.find({ userId: 7, id: 'open' })).toMatchObject({ outcome: 'unknown', mayBeCommitted: true })
    expect(journal.debts()).toHaveLength(2)
  })

  test('is opened by one, also by another path to it, or if many come at the same time', async () => {
    const [path, link, before] = [newPath(), newPath(), newPath()]
    await symlink(path, link)
    await symlink(folder, before)
    await journalAt(link)
    await expect(journalAt(path)).rejects.toThrow('is open already')
    await expect(journalAt(join(before, basename(path)))).rejects.toThrow('is open already')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)

    const contended = newPath()
    const openers = Array.from({ length: 5 }, () =>
      promisify(execFile)(`${PROJECT}/bin/node`, [join(import.meta.dirname, 'journal-opener.ts'), contended]),
    )
    const holders = (await Promise.all(openers)).flatMap(({ stdout }) => JSON.parse(stdout))
    holders.sort(([one], [other]) => one - other)
    expect(holders.length).toBeGreaterThan(5)
    const overlaps = holders.filter(([begin], n) => n > 0 && begin < holders[n - 1][1])
    expect(overlaps).toEqual([])
  })

  test('is seen to be open once its socket answers, and opens all the same if that was removed before', async () => {
    const path = newPath()
    const { listen } = Server.prototype
    const addresses: string[] = []
    const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
      addresses.push(String(args[0]))
      // A socket has its file before it answers: another process takes the first one for that of an ended process.
      if (addresses.length === 1) this.prependOnceListener('listening', () => rmSync(String(args[0])))
      return Reflect.apply(listen, this, args)
    })
    onTestFinished(() => spy.mockRestore())
    await journalAt(path)
    expect(addresses).toEqual([expect.stringContaining(`${path}.wait`), expect.stringContaining(`${path}.wait`)])
    const beside = (await readdir(folder)).filter(name => name.startsWith(`${basename(path)}.`))
    expect(beside).toEqual([expect.stringMatching(/\.lock[0-9a-f]{8}$/)])
    await expect(journalAt(path)).rejects.toThrow('is open already')
  })

  test('has one line for what is written at the same time', async () => {
    const path = newPath()
    const journal = await journalAt(path)
    const ends = await Promise.all(Array.from({ length: 200 }, (_, n) => journal.begin(ask(1, `m${n}`))))
    await Promise.all(ends.map(end => end('sent')))
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toHaveLength(3)
  })

  test('loses nothing but its last write if it is cut anywhere in that', async () => {
    const path = newPath()
    const journal = await journalAt(path)
    const end = await journal.begin(ask(1, 'first'))
    const before = await readFile(path)
    await end('sent')
    const after = await readFile(path)
    const cut = newPath()
    const outcomeAt = async (bytes: Buffer) => {
      await writeFile(cut, bytes)
      const opened = await openJournal(cut, { onUnknown: () => 'charge' })
      const debts = opened.debts()
      await opened.close()
      return debts.map(({ outcome }) => outcome)
    }
    for (let length = before.length; length < after.length; length += 7) {
      expect(await outcomeAt(after.subarray(0, length))).toEqual(['unknown'])
      // Its length may be on the disk before its content.
      const zeros = Buffer.concat([after.subarray(0, length), Buffer.alloc(after.length - length)])
      expect(await outcomeAt(zeros)).toEqual(['unknown'])
    }
    expect(await outcomeAt(after)).toEqual(['sent'])
    await expect(outcomeAt(Buffer.concat([before.fill(0, before.length - 9), after]))).rejects.toThrow('damaged')
  })

  test('is written again after an error of its folder', async () => {
    const path = newPath()
    const script = join(import.meta.dirname, 'journal-without-files.ts')
    // So few that the process is soon without one.
    const command = `ulimit -n 64; exec "${PROJECT}/bin/node" "${script}" "${path}"`
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command])
    expect(JSON.parse(stdout)).toEqual(['EMFILE', 'done', 'EMFILE', 'done'])
    expect((await journalAt(path)).debts()).toMatchObject([{ request: { id: 'with 0' } }])
  })

  test('is written anew before it grows without end', async () => {
    const path = newPath()
    const journal = await journalAt(path)
    const kept = await journal.begin(ask(1, 'kept'))
    for (let round = 0; round < 10; round++) {
      const ends = await Promise.all(Array.from({ length: 900 }, (_, n) => journal.begin(ask(round, `m${n}`))))
      await Promise.all(ends.map(end => end('sent')))
      await journal.remove(journal.due())
    }
    await kept('sent')
    expect((await readFile(path, 'utf8')).match(/"op":/g)?.length).toBeLessThan(21_000)
    const copy = newPath()
    await copyFile(path, copy)
    expect((await journalAt(copy)).debts()).toEqual(journal.debts())
  })
})
