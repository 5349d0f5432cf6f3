import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { ConfigIssue } from '../config/combinations.ts'
import { type Config, ConfigError, type LoadOptions, loadConfig } from '../config/config.ts'
import { configVariables, SECRET_VARIABLES } from '../config/describe.ts'
import type { Arguments } from './arguments.ts'
import { nearest } from './nearest.ts'
import type { Terminal } from './terminal.ts'

/** Reads the configuration of a command. @throws ConfigError with all issues. */
export function readConfig(
  args: Arguments,
  { env }: Pick<Terminal, 'env'>,
  options: Pick<LoadOptions, 'needsKey'> = {},
): Config {
  const path = args.one('env-file')
  const file = path === undefined ? {} : readEnvFile(path)
  const { secrets, issues } = readSecretFiles(env, file)
  const result = loadConfig({ ...env, ...secrets }, { ...options, file })
  issues.push(...('issues' in result ? result.issues : []), ...misspellings(file), ...unrunCommands(file))
  if ('issues' in result || issues.length > 0) throw new ConfigError(issues)
  return result.config
}

/** The values of secrets that are in files of their own, as `AUTH_SECRET_FILE=/run/secrets/auth` names them. */
function readSecretFiles(env: NodeJS.Dict<string>, file: NodeJS.Dict<string>) {
  const secrets: Record<string, string> = {}
  const issues: ConfigIssue[] = []
  for (const name of SECRET_VARIABLES) {
    const variable = `${name}_FILE`
    const path = env[variable] || file[variable]
    if (!path) continue
    if (env[name] || file[name]) {
      issues.push({ variable: `${name}, ${variable}`, message: 'only one of them can be set' })
      continue
    }
    const text = readSecret(path)
    if (text instanceof Error) {
      issues.push({ variable, message: `${JSON.stringify(path)} cannot be used: ${text.message}` })
    } else {
      secrets[name] = text
    }
  }
  return { secrets, issues }
}

/** Editors and `echo` end a file with a line break, which is no part of the secret. */
function readSecret(path: string): string | Error {
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    return text === '' ? new Error('it is empty') : text
  } catch (error) {
    return new Error(`it cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([{ variable: '--env-file', message: `${JSON.stringify(path)} cannot be read (${code})` }])
  }
}

/** A file is no shell script: the text of a command that makes a secret would itself be the secret, known to everyone. */
function unrunCommands(file: NodeJS.Dict<string>): ConfigIssue[] {
  return Object.entries(file)
    .filter(([name, value]) => NAMES.includes(name) && /\$\(|`/.test(value ?? ''))
    .map(([variable]) => ({ variable, message: 'contains a command, and the file is not run: write its output' }))
}

const NAMES = [...configVariables().map(({ name }) => name), ...SECRET_VARIABLES.map(name => `${name}_FILE`)]

/** Shorter names are too near to those of other programs. */
const MIN_NAME = 8

/** Warnings of variables whose names are similar to one of ours. They may be those of other programs, so it goes on. */
export function warningsOf(env: NodeJS.Dict<string>): string[] {
  const long = Object.fromEntries(Object.entries(env).filter(([name]) => name.length >= MIN_NAME))
  return misspellings(long).map(({ variable, message }) => `sms-quota: warning: ${variable} ${message}`)
}

/** Variables of OpenSSL, libpq, Node.js and OpenTelemetry: some are similar to ours, and none is a mistake. */
const OF_STANDARDS =
  /^(SSL_CERT_(FILE|DIR)|PG[A-Z_]+|NODE_\w+|OTEL_TRACES_SAMPLER|OTEL_EXPORTER_(ZIPKIN|JAEGER)_\w+|OTEL_EXPORTER_OTLP_(TIMEOUT|(TRACES|METRICS|LOGS)_\w+))$/

/** Names that are similar to a variable's. A misspelled AUTH_AUDIENCE would silently let tokens of other services in. */
function misspellings(variables: NodeJS.Dict<string>): ConfigIssue[] {
  return Object.keys(variables)
    .filter(variable => !NAMES.includes(variable) && !OF_STANDARDS.test(variable))
    .map(variable => ({ variable, meant: nearest(variable, NAMES) }))
    .filter(({ meant }) => meant !== undefined)
    .map(({ variable, meant }) => ({
      variable,
      message: `is not a variable of sms-quota; did you mean ${meant}?`,
    }))
}
