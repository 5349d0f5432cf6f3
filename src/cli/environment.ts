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

/** Reads the configuration of this process. @throws ConfigError with all issues. */
export function readConfig(args: Arguments, options: Pick<LoadOptions, 'needsKey'> = {}): Config {
  const path = args.one('env-file')
  const file = path === undefined ? {} : readEnvFile(path)
  const result = loadConfig(process.env, { ...options, file })
  const issues = [...('issues' in result ? result.issues : []), ...misspellings(file)]
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
 * Names in an env file that are similar to a variable's. A misspelled AUTH_AUDIENCE would silently let tokens of other
 * services in. The environment is not checked, because it contains variables of other programs.
 */
function misspellings(file: NodeJS.Dict<string>): ConfigIssue[] {
  const names = configVariables().map(({ name }) => name)
  return Object.keys(file)
    .filter(variable => !names.includes(variable))
    .map(variable => ({ variable, meant: didYouMean(variable, names) }))
    .filter(({ meant }) => meant !== '')
    .map(({ variable, meant }) => ({ variable, message: `is not a variable of sms-quota${meant}` }))
}
