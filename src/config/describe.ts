/** The table of variables and the settings in effect, for people. */
import { type Config, valuesIn } from './config.ts'
import { type Machine, type Texts, thisMachine } from './variable.ts'
import { NAMES, row } from './variables.ts'

/** A variable as help shows it. `fallback` is null if there is none; `unset` then says what applies. */
interface VariableHelp {
  name: string
  means: string
  accepts: string
  fallback: string | null
  unset: string | null
}

/** The table of variables for help, with the defaults of this machine. */
export function configVariables(env: Texts = process.env, machine: Machine = thisMachine()): VariableHelp[] {
  return NAMES.map(name => {
    const { means, accepts: value, fallback = null, unset = null, secret } = row(name)
    const accepts = secret ? `${value}; or ${name}_FILE: the path of a file that contains it` : value
    return { name, means, accepts, fallback: typeof fallback === 'function' ? fallback(env, machine) : fallback, unset }
  })
}

/** The variables with a secret: NAME_FILE can name a file that contains the value. */
export const SECRET_VARIABLES: readonly string[] = NAMES.filter(name => row(name).secret)

/**
 * The settings in effect, in the order of the table, with secrets masked; null: not set, and `unset` says what applies.
 */
export function describeConfig(config: Config): { name: string; value: string | null; unset: string | null }[] {
  return [...valuesIn(config)].map(([name, value]) => {
    const { mask = String, unset = null } = row(name)
    return { name, value: value === null ? null : mask(String(value)), unset }
  })
}
