import { connectionsOf } from '../app.ts'
import { createClock } from '../clock.ts'
import { type Config, ConfigError } from '../config/config.ts'
import { isPlainSmtp } from '../config/parse.ts'
import type { Database, Queryable } from '../db/connection/database.ts'
import { sql } from '../db/connection/sql.ts'
import { connectionOf } from '../db/embedded/embedded.ts'
import { type Check, checkDatabase } from '../db/schema/check.ts'
import { createMailer, type MailOptions } from '../events/mailer.ts'
import { readOwnSecret } from '../http/auth/secrets.ts'
import { readSecretKeys, requireFittingKeys } from '../secrets.ts'
import { table } from './help.ts'
import { reportFailure } from './on-database.ts'

/** Beyond this difference, in milliseconds, an alert would fire. The service itself follows the database's clock. */
const MAX_AHEAD_MS = 1_000

/** Prints a line for each check of the database. Resolves to 0 if it can be used, 1 if not. */
export function check(config: Config): Promise<number> {
  return reportFailure('check the database', config, async () => {
    const url = config.databaseUrl ?? (await connectionOf(config.dataDir))
    const mail = config.mail === null ? [] : [await checkMail(config.mail)]
    if (url === undefined) {
      process.stdout.write(`\nThe database in ${config.dataDir} does not run; the service checks it when it starts.\n`)
      if (mail.length > 0) process.stdout.write(reportOf(mail))
      return mail.some(({ fault }) => fault !== null) ? 1 : 0
    }
    const checks = await checkDatabase({
      url,
      connections: connectionsOf(config),
      migrates: config.migrate === 'auto',
      checkSecrets: db => checkSecrets(db, config),
      checkClock,
    })
    checks.push(...mail)
    process.stdout.write(`\n${reportOf(checks)}`)
    return checks.some(({ fault }) => fault !== null) ? 1 : 0
  })
}

/** Whether the keys of this process decrypt what is stored: with others a start is refused. */
async function checkSecrets(db: Queryable, config: Config): Promise<Check> {
  const [row] = await db.query<{ isMade: boolean; isReadable: boolean }>({
    text: sql`select to_regclass('webhook') is not null as "isMade",
      coalesce(has_table_privilege(to_regclass('webhook'), 'select'), false) as "isReadable"`,
  })
  const { databaseUrl, secretsKey, dataDir } = config
  const wrong = (fault: string): Check => ({ name: 'secrets', fault, found: '' })
  if (databaseUrl === null && secretsKey === null && (await readOwnSecret(dataDir, 'secrets-key')) === null)
    return wrong(`the key secrets-key is missing in ${dataDir}; restore it from a backup`)
  const keys = await readSecretKeys(config)
  const isPlain = secretsKey === 'off' || (databaseUrl !== null && secretsKey === null)
  const found = isPlain
    ? 'those of webhooks are plain text; SECRETS_KEY encrypts them'
    : 'those of webhooks fit the key'
  if (row?.isMade !== true) return { name: 'secrets', fault: null, found: 'none are stored yet' }
  if (!row.isReadable) return wrong('the role may not read the table webhook, so the key cannot be checked')
  try {
    await requireFittingKeys(db, keys, config)
    return { name: 'secrets', fault: null, found }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return wrong(error.message)
  }
}

/** Whether the SMTP server takes connections as messages need them. */
async function checkMail(mail: MailOptions): Promise<Check> {
  const mailer = createMailer(mail)
  const fault = await mailer.check()
  mailer.close()
  const found = `the SMTP server takes connections, ${isPlainSmtp(mail.url) ? 'without TLS' : 'with TLS'}`
  return { name: 'mail', fault, found }
}

async function checkClock(ping: Database['ping']): Promise<Check> {
  const clock = createClock()
  await clock.synchronize(async () => (await ping()).now)
  const ms = Math.round(Math.abs(clock.aheadMs))
  const found = `this machine's and the database's differ by ${ms} ms`
  const fault = ms > MAX_AHEAD_MS ? `${found}; at most ${MAX_AHEAD_MS} ms are accepted, synchronize both by NTP` : null
  return { name: 'clock', fault, found }
}

function reportOf(checks: readonly Check[]): string {
  const rows = checks.map(({ name, fault, found }) => [name, fault === null ? `ok: ${found}` : `wrong: ${fault}`])
  const wrong = checks.filter(({ fault }) => fault !== null).length
  const isOfDatabase = checks.some(({ name }) => name !== 'mail')
  const verdict =
    wrong === 0 ? (isOfDatabase ? 'The database fits.' : '') : `${wrong} of ${checks.length} checks failed.`
  return `${table(rows)}${verdict}\n`
}
