import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import {
  type Config,
  ConfigError,
  type ConfigIssue,
  configVariables,
  type LoadOptions,
  loadConfig,
} from '../config/config.ts'
import { type Arguments, didYouMean } from './arguments.ts'

/** The configuration of this process. @throws ConfigError with every issue. */
export function readConfig(args: Arguments, options: Pick<LoadOptions, 'needsKey'> = {}): Config {
  const path = args.one('env-file')
  const file = path === undefined ? {} : readEnvFile(path)
  const result = loadConfig(process.env, { ...options, file })
  const issues = [...('issues' in result ? result.issues : []), ...misspelt(file)]
  if ('issues' in result || issues.length > 0) throw new ConfigError(issues)
  return result.config
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([{ variable: '--env-file', message: `${JSON.stringify(path)} cannot be read (${code})` }])
  }
}

/**
 * Names that are nearly ours. A misspelt AUTH_AUDIENCE would silently let other services' tokens in. The environment is
 * not searched: it is full of other programs' variables, while a file that was named to us is meant for us.
 */
function misspelt(file: NodeJS.Dict<string>): ConfigIssue[] {
  const names = configVariables().map(({ name }) => name)
  return Object.keys(file)
    .filter(variable => !names.includes(variable))
    .map(variable => ({ variable, meant: didYouMean(variable, names) }))
    .filter(({ meant }) => meant !== '')
    .map(({ variable, meant }) => ({ variable, message: `is no variable of sms-quota${meant}` }))
}
