import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { welcome } from '../src/welcome.ts'

const URL = 'http://127.0.0.1:8080'

async function bannerOf(isTerminal: boolean, env: Record<string, string> = {}): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "sms-quota it's "))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const loaded = loadConfig({ DATA_DIR: dataDir, ...env })
  if ('issues' in loaded) throw new Error('the configuration of the test is invalid')
  return welcome(loaded.config, URL, isTerminal)
}

test('a terminal gets a link that signs in, and a call with the same token', async () => {
  const banner = await bannerOf(true)
  const [, token = ''] = /\/console\/#token=(\S+)\n/.exec(banner) ?? []
  expect(decodeJwt(token)).toMatchObject({ sub: '1', roles: ['sms-quota:admin'] })
  expect(banner).toContain(`-H 'authorization: Bearer ${token}'`)
})

test('anything else gets commands that mint one, for the same data folder', async () => {
  const banner = await bannerOf(false)
  expect(banner).not.toContain('eyJ')
  expect(banner).toMatch(/\nDATA_DIR='.*it'\\''s .*' bin\/sms-quota token --user 1 --role admin --console http:\S+\n/)
  expect(banner).toMatch(/\nTOKEN=\$\(DATA_DIR=.* bin\/sms-quota token --user 1 --role admin\)\ncurl .*\$TOKEN/)
})

test('commands use the file of settings that the service has', async () => {
  const loaded = loadConfig({ AUTH_SECRET: 'a secret of more than thirty-two bytes' })
  if ('issues' in loaded) throw new Error('the configuration of the test is invalid')
  const banner = await welcome(loaded.config, URL, false, '/etc/sms quota.env')
  expect(banner).toContain("TOKEN=$(bin/sms-quota token --env-file '/etc/sms quota.env' --user 1 --role admin)")
})

test.each([true, false])("an operator's secret signs nothing unasked (terminal: %s)", async isTerminal => {
  const banner = await bannerOf(isTerminal, { AUTH_SECRET: 'a secret of more than thirty-two bytes' })
  expect(banner).not.toContain('eyJ')
  expect(banner).toContain('\nTOKEN=$(bin/sms-quota token --user 1 --role admin)\ncurl ')
  const byReference = await bannerOf(isTerminal, {
    AUTH_SECRET: 'a secret of 32 bytes or more, it is',
    AUTH_USER_REF_CLAIM: 'sub',
  })
  expect(byReference).toContain('\nTOKEN=$(bin/sms-quota token --subject admin --role admin)\ncurl ')
})

test('with a public key, the identity provider is named as the signer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'key.pem')
  await writeFile(file, generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }))
  const banner = await bannerOf(false, { AUTH_PUBLIC_KEY_FILE: file, AUTH_ADMIN_ROLE: 'boss' })
  expect(banner).toMatch(/TOKEN comes from your identity provider, with the role boss:\n\ncurl .*\$TOKEN/)
})
