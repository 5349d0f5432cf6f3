/** The options of curl that the documents use. Fails on any other. */
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
    'write-out': { type: 'string', short: 'w' },
  },
})
const [url, ...more] = positionals
if (url === undefined || more.length > 0) throw new Error('one URL is expected')

const answer = await fetch(url, {
  method: values.request ?? (values.data === undefined ? 'GET' : 'POST'),
  headers: (values.header ?? []).map(header => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon), header.slice(colon + 1).trim()] as [string, string]
  }),
  ...(values.data === undefined ? {} : { body: values.data }),
})
process.stdout.write(await answer.text())
process.stdout.write((values['write-out'] ?? '').replaceAll('%{http_code}', String(answer.status)))
