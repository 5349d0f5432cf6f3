/** The literals of the client in Python, beside the values of the document. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const { schemas } = JSON.parse(read('docs/openapi.json')).components

/** The values of the document, by class and field. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'Draw.kind': schemas.Granted.properties.draws.items.properties.kind.enum,
  'Denied.reason': schemas.Denied.properties.reason.enum,
  'Settled.state': schemas.Settled.properties.state.enum,
  'Reserved.on_expiry': schemas.ReserveReq.properties.on_expiry.enum,
  Operation: schemas.BatchReq.properties.operations.items.anyOf.flatMap(
    (one: { properties: { op: { enum: string[] } } }) => one.properties.op.enum,
  ),
}
/** What is the client's own, and no value of the API. */
const OWN = ['Sent.sent', 'OnRepeated', 'Outcome']

test('a literal of the client in Python has the values of the document', () => {
  const text = read('python/src/sms_quota/_types.py')
  const literals = [...text.matchAll(/^( *)(\w+)(?:: .*| = )\bLiteral\[("[^\]]*)\]/gm)].map(match => {
    const [, indent, name, values = ''] = match
    const [owner = ''] =
      indent === ''
        ? []
        : (text
            .slice(0, match.index)
            .match(/^class \w+/gm)
            ?.slice(-1) ?? [])
    return {
      of: indent === '' ? `${name}` : `${owner.replace('class ', '')}.${name}`,
      values: values.split(',').map(value => value.trim().replaceAll('"', '')),
    }
  })
  const compared = literals.filter(({ of }) => !OWN.includes(of))
  expect(compared.map(({ of }) => of).toSorted()).toEqual(Object.keys(VALUES).toSorted())
  for (const { of, values } of compared) expect(values.toSorted(), of).toEqual(VALUES[of]?.toSorted())
})
