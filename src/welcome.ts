/** The banner of a started service: its addresses, and a first call to paste. */
import type { Config } from './config/config.ts'
import { configVariables } from './config/describe.ts'
import { ownSecret } from './http/auth/secrets.ts'
import { mintToken } from './http/auth/tokens.ts'

const GRANT = `-d '{"user_id":7,"limit":1000,"period":"month"}'`

/**
 * The text of the banner. It contains a token only for a terminal: what is not read there is usually kept as a log. Without
 * a terminal it has lines that mint a token when they are pasted into a shell.
 *
 * @param url where the service is, without a final slash
 * @param envFile the file that the service has settings from; commands need it, too
 */
export async function welcome(config: Config, url: string, isTerminal: boolean, envFile?: string): Promise<string> {
  const { key } = config.auth
  const steps = key.kind === 'own' && isTerminal ? await withToken(config, url) : withoutToken(config, url, envFile)
  return `
sms-quota is at ${url}, its documentation at ${url}/docs

${steps.join('\n\n')}

`
}

/** Only the service's own secret signs a token unasked. */
async function withToken({ auth, dataDir }: Config, url: string): Promise<string[]> {
  const [userId, roles, ttlSeconds] = [1, [auth.adminRole], 3_600]
  const secret = await ownSecret(dataDir)
  const token = await mintToken({ ...auth, secret, userId, subject: '1', roles, ttlSeconds, now: Date.now() })
  return [
    'Open its console (the link signs you in)',
    `${url}/console/#token=${token}`,
    "Grant user 7 a thousand units a month (with an administrator's token, valid for an hour):",
    curl(url, `'authorization: Bearer ${token}'`),
  ]
}

function withoutToken(config: Config, url: string, envFile: string | undefined): string[] {
  const { auth } = config
  const call = curl(url, '"authorization: Bearer $TOKEN"')
  if (auth.key.kind === 'public-key' || auth.key.kind === 'jwks') {
    const hint = `Grant user 7 a thousand units a month; TOKEN comes from your identity provider, with the role ${auth.adminRole}:`
    return ['Open its console', `${url}/console/`, hint, call]
  }
  const settings = envFile === undefined ? '' : `--env-file ${quote(envFile)} `
  const owner = auth.userClaim === null ? '--subject admin' : '--user 1'
  const mint = `${dataDirOf(config)}bin/sms-quota token ${settings}${owner} --role admin`
  return [
    'Open its console with the link that this prints (it signs you in)',
    `${mint} --console ${url}`,
    "Grant user 7 a thousand units a month (with an administrator's token, valid for an hour):",
    `TOKEN=$(${mint})\n${call}`,
  ]
}

/** The setting without which a pasted command would look for the secret in another folder. */
function dataDirOf({ auth, dataDir }: Config): string {
  const usual = configVariables().find(({ name }) => name === 'DATA_DIR')?.fallback
  return auth.key.kind !== 'own' || dataDir === usual ? '' : `DATA_DIR=${quote(dataDir)} `
}

/** A text as a shell reads it. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** @param authorization the header, quoted for a shell */
const curl = (url: string, authorization: string): string =>
  `curl ${url}/api/sms/admin/quota -H 'content-type: application/json' -H ${authorization} ${GRANT}`
