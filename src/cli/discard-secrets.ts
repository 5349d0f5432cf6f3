import { discardSecret } from '../admin/webhooks/webhooks.ts'
import type { Config } from '../config/config.ts'
import { openDatabase } from '../db/connection/database.ts'
import { findUnreadable } from '../db/webhooks/secrets.ts'
import { discardValueKey, isValueKeyLost } from '../db/webhooks/value-key.ts'
import { newSecret } from '../events/signature.ts'
import { readSecretKeys } from '../secrets.ts'
import type { Arguments } from './arguments.ts'
import { readConfig } from './environment.ts'
import { onDatabase, reportFailure } from './on-database.ts'
import type { Terminal } from './terminal.ts'

/**
 * Replaces the secrets of webhooks that no configured key can decrypt, and disables these webhooks, and the key of values. Resolves to 0 if none
 * is left, 1 if some are left or the command failed.
 */
export async function discardSecrets(args: Arguments, terminal: Terminal): Promise<number> {
  const isConfirmed = args.has('yes')
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('discard secrets', config, async () => {
    const { report, isDone } = await onDatabase(config, url => discardOn(url, config, isConfirmed))
    process.stdout.write(report)
    return isDone ? 0 : 1
  })
}

async function discardOn(url: string, config: Config, isConfirmed: boolean) {
  const db = openDatabase({ url, maxConnections: 1 })
  try {
    const keys = await readSecretKeys(config)
    const unreadable = await findUnreadable(db, keys)
    const isKeyLost = await isValueKeyLost(db, keys)
    const list = unreadable.join(', ')
    if (list === '' && !isKeyLost) return { report: 'The keys fit all secrets of webhooks.\n', isDone: true }
    const { now } = await db.ping()
    if (isConfirmed) {
      for (const id of unreadable) await discardSecret(db, id, { secret: newSecret(), keys }, now)
      if (isKeyLost) await discardValueKey(db)
    }
    const { webhooks, caps } = isConfirmed ? DONE : TO_DO
    return { report: `${list === '' ? '' : webhooks(list)}${isKeyLost ? caps : ''}`, isDone: isConfirmed }
  } finally {
    await db.close()
  }
}

const TO_DO = {
  webhooks: (list: string) =>
    `No key fits the secrets of webhooks ${list}.\nWith --yes, they are replaced and these webhooks are disabled.\n`,
  caps: 'No key fits the key of caps on each recipient and tag.\nWith --yes, it is replaced, and these caps begin to count anew.\n',
}

const DONE = {
  webhooks: (list: string) =>
    `Replaced the secrets of webhooks ${list} and disabled these webhooks.\nFor each: rotate its secret, give the new one to the receiver, and enable the webhook.\n`,
  caps: 'Removed the key of caps on each recipient and tag. The next start makes another, and these caps begin to count anew.\n',
}
