/** The fake server as a process, for tests in other languages: prints its URL and token, and `advance` moves its clock. */
import { createInterface } from 'node:readline'
import { createFakeServer } from '../../src/fake/main.ts'

const [, , now] = process.argv
const fake = await createFakeServer(now === undefined ? {} : { now })
console.log(JSON.stringify({ url: fake.url, token: fake.token }))
// It ends with its parent, which closes its input.
for await (const line of createInterface({ input: process.stdin })) {
  fake.advance(Number(line))
  console.log('{}')
}
await fake.close()
