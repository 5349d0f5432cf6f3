import type { AddressInfo } from 'node:net'
import pino, { type Logger } from 'pino'
import { createApp } from './app.ts'
import type { Config } from './config/config.ts'
import { isUnavailable } from './db/database.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { migrate } from './db/migrate.ts'
import { ownSecret } from './http/auth/secrets.ts'
import { mintToken } from './http/auth/tokens.ts'

/** How long a stop may take before the process ends all the same. */
const STOP_MS = 10_000

/** Runs the service until it is told to stop. Answers the exit code. */
export async function serve(config: Config): Promise<number> {
  const log = createLog(config)
  const stopAsked = stopSignal(log)
  try {
    const app = await createApp(config, log)
    try {
      await app.server.listen({ host: config.host, port: config.port })
      await app.metricsServer?.listen({ host: config.host, port: config.metricsPort ?? 0 })
      process.stdout.write(await welcome(config, urlOf(app.server.server.address() as AddressInfo)))
      log.info({ signal: await stopAsked }, 'stopping')
    } finally {
      await app.close()
    }
    log.info('stopped')
    return 0
  } catch (error) {
    return fail('cannot serve', error, config, log)
  }
}

/** Brings the schema of the configured database up to date, and nothing else. Answers the exit code. */
export async function migrateOnly(config: Config): Promise<number> {
  const log = createLog(config)
  try {
    const embedded = config.databaseUrl === null ? await startEmbedded({ dataDir: config.dataDir, log }) : undefined
    try {
      const applied = await migrate({ url: embedded?.url ?? config.databaseUrl ?? '', log })
      process.stdout.write(applied.length === 0 ? 'Nothing to migrate.\n' : `Applied ${applied.join(', ')}.\n`)
    } finally {
      await embedded?.stop()
    }
    return 0
  } catch (error) {
    return fail('cannot migrate', error, config, log)
  }
}

function createLog({ logLevel }: Config): Logger {
  return pino({ level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime })
}

/** Tells machines on stdout and people on stderr what is in the way. Answers the exit code. */
function fail(what: string, error: unknown, config: Config, log: Logger): number {
  const reason = reasonOf(error, config)
  if (reason === undefined) log.fatal({ err: error }, what)
  else log.fatal({ reason }, what)
  process.stderr.write(`sms-quota: ${what}: ${reason ?? (error instanceof Error ? error.stack : String(error))}\n`)
  return 1
}

/**
 * The words for people that we, PostgreSQL and the system put into what we expect to go wrong; undefined for what
 * JavaScript and Fastify throw: that is a bug, and where it comes from is all that helps.
 */
function reasonOf(error: unknown, { databaseUrl }: Config): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ([TypeError, RangeError, ReferenceError, SyntaxError].some(kind => error instanceof kind)) return undefined
  if ('code' in error && /^(ERR|FST)_/.test(String(error.code))) return undefined
  if ('syscall' in error && error.syscall === 'listen') return `${error.message}; set PORT or HOST to another`
  const isOutside = databaseUrl !== null && isUnavailable(error)
  return isOutside ? `the database of DATABASE_URL cannot be used: ${error.message}` : error.message
}

/**
 * Settles with the first signal that asks to stop, and sees to it that the process then ends in time. Further ones
 * change nothing: npm passes on the Ctrl-C that the terminal has sent to everybody already.
 */
async function stopSignal(log: Logger): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>(resolve => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, resolve)
  })
  setTimeout(() => {
    log.fatal(`not stopped after ${STOP_MS} ms; giving up`)
    process.exit(1)
  }, STOP_MS).unref()
  return signal
}

function urlOf({ address, port, family }: AddressInfo): string {
  const isAnywhere = address === '0.0.0.0' || address === '::'
  const host = isAnywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
  return `http://${host}:${port}`
}

/** What a newcomer needs: where it is, and a first call that works when pasted. */
async function welcome(config: Config, url: string): Promise<string> {
  const { authorization, hint, fragment } = await firstToken(config)
  return `
sms-quota is at ${url}, its documentation at ${url}/docs

Open its console${fragment === '' ? '' : ' (the link signs you in)'}

${url}/console/${fragment}

Grant user 7 a thousand units a month${hint}

curl ${url}/api/sms/admin/quota -H 'content-type: application/json' -H ${authorization} -d '{"user_id":7,"limit":1000,"period":"month"}'

`
}

interface FirstToken {
  /** An administrator's header, as a shell reads it. */
  authorization: string
  /** What to say of it. */
  hint: string
  /** What signs in to the console, at the end of its address; empty if no token is there. It is not sent to servers. */
  fragment: string
}

/** A secret of the operator's own signs nothing unasked. */
async function firstToken({ auth, dataDir }: Config): Promise<FirstToken> {
  switch (auth.key.kind) {
    case 'own': {
      const [userId, roles, ttlSeconds] = [1, [auth.adminRole], 3600]
      const secret = await ownSecret(dataDir)
      const token = await mintToken({ ...auth, secret, userId, subject: '1', roles, ttlSeconds, now: Date.now() })
      return {
        authorization: `'authorization: Bearer ${token}'`,
        hint: " (the token is an administrator's, good for an hour):",
        fragment: `#token=${token}`,
      }
    }
    case 'secret':
      return {
        authorization: '"authorization: Bearer $TOKEN"',
        hint: ':\n\nTOKEN=$(bin/sms-quota token --user 1 --role admin)',
        fragment: '',
      }
    default:
      return {
        authorization: '"authorization: Bearer $TOKEN"',
        hint: `; TOKEN comes from your identity provider, with the role ${auth.adminRole}:`,
        fragment: '',
      }
  }
}
