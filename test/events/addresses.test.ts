import { expect, test } from 'vitest'
import { isPublicAddress, lookupPublic } from '../../src/events/addresses.ts'
import { createPoster } from '../../src/events/post.ts'
import { serve } from '../support/listening.ts'

test.each([
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '100.63.255.255',
  '100.128.0.0',
  '223.255.255.255',
  '168.63.129.15',
  '168.63.129.17',
  '2606:4700::1111',
  '2a00:1450:4001::1',
])('%s is public', address => expect(isPublicAddress(address)).toBe(true))

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  // Alibaba, Oracle, Tencent, and those of AWS and Google by IPv6.
  '100.100.100.200',
  '192.0.0.192',
  '169.254.0.23',
  'fd00:ec2::254',
  'fd20:ce::254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'ff02::1',
  '2002:7f00:1::',
  '2001:db8::1',
  '2001::1',
  'localhost',
])('%s is not', address => expect(isPublicAddress(address)).toBe(false))

let calls = 0
const { port } = new URL(
  await serve((_, response) => {
    calls += 1
    response.end()
  }),
)
async function send(host: string, allowPrivate: boolean) {
  const poster = createPoster({ allowPrivate, timeoutMs: 5_000 })
  return poster.post(`http://${host}:${port}/`, {}, '{}').finally(() => poster.close())
}

// Forms of the local machine's address, and a name that resolves to it.
test.each(['127.0.0.1', '127.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', 'localhost'])(
  'nothing is sent to %s',
  async host => {
    const before = calls
    expect(await send(host, false)).toEqual({
      delivered: false,
      response_code: null,
      error: 'the address is not on the public internet',
    })
    expect(calls).toBe(before)
  },
)

test('private addresses are sent to if the operator allows it', async () => {
  expect(await send('127.0.0.1', true)).toEqual({ delivered: true, response_code: 200, error: null })
  expect(await send('localhost', true)).toMatchObject({ delivered: true })
})

test('a name is checked whether one or all of its addresses are asked for', async () => {
  for (const all of [true, false]) {
    const error = await new Promise(resolve => lookupPublic('localhost', { all }, resolve))
    expect(error).toMatchObject({ name: 'ForbiddenAddress' })
  }
})
