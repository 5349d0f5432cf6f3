import { setTimeout as pause } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { createApp } from './app.ts'
import type { Config } from './config/config.ts'
import { isUnavailable } from './db/connection/database.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { migrate, pendingMigrations } from './db/schema/migrate.ts'
import type { Migration } from './db/schema/migration-files.ts'
import { dropRoot } from './drop-root.ts'
import { addressOf, createListener, type HttpListener } from './http/listener.ts'
import { readCertificate, watchCertificate } from './http/tls.ts'
import { TIME_ZONES, VERSION } from './version.ts'
import { welcome } from './welcome.ts'

/** The process exits if it has not stopped this time after the delay, in milliseconds. */
export const STOP_MS = 10_000

const UNENCRYPTED =
  'service: listens beyond this machine without TLS, so tokens can be read on the network; set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY if a proxy encrypts'

/**
 * Runs the service until a signal stops it. Resolves to the exit code.
 *
 * @param envFile the file that the settings are from, for the banner
 */
export async function serve(config: Config, envFile?: string): Promise<number> {
  const log = createLog(config)
  const stopRequested = stopSignal(config, log)
  try {
    const listener = await openListener(config, log)
    // Load balancers see it while the service still answers.
    stopRequested.then(() => listener.readiness.refuse('the service is stopping'))
    const stopping = new AbortController()
    stopRequested.then(() => stopping.abort())
    try {
      await serveUntil(stopRequested, { listener, stopping: stopping.signal }, config, log, envFile)
    } catch (error) {
      if (error !== stopping.signal.reason) throw error
    } finally {
      await listener.close()
    }
    log.info('service: stopped')
    return 0
  } catch (error) {
    return fail('cannot serve', error, config, log)
  }
}

/** Opens the port, which answers health until the other parts have started. */
async function openListener({ tls, host, port, trustProxy }: Config, log: Logger): Promise<HttpListener> {
  const certificate = tls === null ? undefined : await readCertificate(tls)
  const listener = createListener(certificate)
  await listener.listen(host, port)
  if (tls !== null && certificate !== undefined) watchCertificate(tls, certificate, log, listener.renewCertificate)
  const { url, isLoopback } = addressOf(listener)
  const versions = { version: VERSION, node: process.version, time_zones: TIME_ZONES }
  log.info({ ...versions, url }, 'service: listening, and starting')
  if (!isLoopback && tls === null && trustProxy === null) log.warn({ host }, UNENCRYPTED)
  return listener
}

/** Starts the other parts behind the open port, and stops them after the signal. */
async function serveUntil(
  stopRequested: Promise<NodeJS.Signals>,
  parts: { listener: HttpListener; stopping: AbortSignal },
  config: Config,
  log: Logger,
  envFile: string | undefined,
): Promise<void> {
  const { metricsPort, shutdownDelaySeconds } = config
  // Only root may open the ports below 1024.
  const needsRoot = metricsPort !== null && metricsPort > 0 && metricsPort < 1_024
  if (!needsRoot) await dropRoot(config, log)
  const app = await createApp(config, log, parts)
  try {
    await app.metricsServer?.listen({ host: config.host, port: metricsPort ?? 0 })
    if (needsRoot) await dropRoot(config, log)
    process.stdout.write(await welcome(config, addressOf(parts.listener).url, process.stdout.isTTY, envFile))
    log.info({ signal: await stopRequested, delay_seconds: shutdownDelaySeconds }, 'service: stopping')
    await pause(shutdownDelaySeconds * 1_000)
  } finally {
    await app.close()
  }
}

/** Migrates the configured database, or with `dryRun` prints what is missing. Resolves to the exit code. */
export async function migrateOnly(config: Config, { dryRun }: { dryRun: boolean }): Promise<number> {
  const log = createLog(config)
  try {
    // The list of a dry run is the whole output.
    await dropRoot(config, dryRun ? log.child({}, { level: 'warn' }) : log)
    const embedded = config.databaseUrl === null ? await startEmbedded({ dataDir: config.dataDir, log }) : undefined
    try {
      const url = embedded?.url ?? config.databaseUrl ?? ''
      process.stdout.write(dryRun ? reportOfPending(await pendingMigrations({ url })) : await applyAll(url, log))
    } finally {
      await embedded?.stop()
    }
    return 0
  } catch (error) {
    return fail('cannot migrate', error, config, log)
  }
}

async function applyAll(url: string, log: Logger): Promise<string> {
  const applied = await migrate({ url, log })
  return applied.length === 0 ? 'Nothing to migrate.\n' : `Applied ${applied.join(', ')}.\n`
}

function reportOfPending(pending: readonly Migration[]): string {
  if (pending.length === 0) return 'Nothing to migrate.\n'
  const lines = pending.map(({ name, servesFrom, concurrent }) => {
    const versions = servesFrom === null ? 'this version' : `version ${servesFrom}`
    const how = concurrent === null ? '' : ', builds or drops an index beside running services'
    return `Would apply ${name}: serves ${versions} and later${how}.\n`
  })
  return lines.join('')
}

function createLog({ logLevel }: Config): Logger {
  return pino({ level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime })
}

/** Logs a failure on stdout, and prints its reason on stderr. Returns the exit code. */
function fail(what: string, error: unknown, config: Config, log: Logger): number {
  const reason = reasonOf(error, config)
  if (reason === undefined) log.fatal({ err: error }, `service: ${what}`)
  else log.fatal({ reason }, `service: ${what}`)
  process.stderr.write(`sms-quota: ${what}: ${reason ?? (error instanceof Error ? error.stack : String(error))}\n`)
  return 1
}

/**
 * The message of an expected failure, as this service, PostgreSQL or the operating system words it; undefined for
 * errors of JavaScript and Fastify, which are bugs and need their stack.
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
 * Resolves with the first stop signal, and exits the process if it has not stopped in time. Later signals change
 * nothing: npm forwards the Ctrl-C that the terminal has sent to all its processes already.
 */
async function stopSignal({ shutdownDelaySeconds }: Config, log: Logger): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>(resolve => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, resolve)
  })
  const ms = shutdownDelaySeconds * 1_000 + STOP_MS
  setTimeout(() => {
    log.fatal({ ms }, 'service: not stopped in time, exiting')
    process.exit(1)
  }, ms).unref()
  return signal
}
