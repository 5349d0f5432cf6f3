/** The services of this machine that this account may look at: for someone who has another folder or port in a new shell. */
import { readdirSync, readFileSync } from 'node:fs'

/** What of its environment says where a service is. */
const SHOWN = ['PORT', 'HOST', 'DATA_DIR', 'TLS_CERT_FILE']

/** A line for each service that runs, to follow a message; empty without `/proc`, and if none runs. */
export function runningServices(proc = '/proc'): string {
  return processesIn(proc)
    .flatMap(pid => lineOf(proc, pid) ?? [])
    .map(line => `\n${line}`)
    .join('')
}

function processesIn(proc: string): string[] {
  try {
    return readdirSync(proc).filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Undefined if the process is no service, has ended, or is another account's. */
function lineOf(proc: string, pid: string): string | undefined {
  try {
    const words = readFileSync(`${proc}/${pid}/cmdline`, 'utf8').split('\0')
    const at = words.findIndex(word => /(^|\/)cli\.ts$/.test(word))
    if (at === -1 || words[at + 1] !== 'serve') return undefined
    const set = readFileSync(`${proc}/${pid}/environ`, 'utf8')
      .split('\0')
      .filter(text => SHOWN.some(name => text.startsWith(`${name}=`)))
    const where = [...set, ...words.slice(at + 2).filter(word => word !== '')].join(' ')
    return `Process ${pid} is a service, with ${where === '' ? 'the default settings' : where}.`
  } catch {
    return undefined
  }
}
